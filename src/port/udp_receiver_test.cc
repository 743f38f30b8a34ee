// The order of what comes by the mailbox and by the socket, where the kernel's part is played by hand.
#include "port/udp_receiver.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "port/fd.h"
#include "port/udp_socket.h"

namespace mrc::port {
namespace {

/// A UDP socket on loopback that sends to itself, and a doorway without a program.
class UdpReceiverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    socket_ = Fd(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0));
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    const int one = 1;
    ASSERT_EQ(::setsockopt(socket_.get(), SOL_SOCKET, SO_RXQ_OVFL, &one, sizeof one), 0);
    ASSERT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&name), size), 0);
    ASSERT_EQ(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&name), &size), 0);
    ASSERT_EQ(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&name), size), 0);
    receiver_.use(memory_, true);
  }

  // --- the kernel's part ---
  void queue(const std::string& text) {
    ++memory_->rings;
    ASSERT_GT(::send(socket_.get(), text.data(), text.size(), 0), 0);
  }
  /// Begins a letter; nobody sees it before it is published.
  std::uint64_t claim(const std::string& text, std::uint16_t packet_bytes = 0) {
    constexpr std::size_t kUdpHeader = 8;
    const std::uint64_t number = claimed_.letters;
    DoorwayMemory::Letter& letter = memory_->letters[number % DoorwayMemory::kLetters];
    letter.size = static_cast<std::uint16_t>(kUdpHeader + text.size());
    letter.packet_bytes = packet_bytes;
    letter.after = static_cast<std::uint32_t>(memory_->rings);
    letter.queued = 0;
    std::memcpy(memory_->bytes + claimed_.bytes + kUdpHeader, text.data(), text.size());
    claimed_.add(letter.size);
    memory_->claimed = claimed_.word();
    return number;
  }
  void publish(std::uint64_t number) {
    memory_->letters[number % DoorwayMemory::kLetters].ready = number + 1;
  }
  void mail(const std::string& text, std::uint16_t packet_bytes = 0) { publish(claim(text, packet_bytes)); }
  /// It finds no place in the end.
  void mail_in_vain(const std::string& text) {
    const std::uint64_t number = claim(text);
    memory_->letters[number % DoorwayMemory::kLetters].queued = 1;
    publish(number);
    queue(text);
  }
  /// Returns how many of them were dropped.
  std::uint32_t overrun() {
    const std::uint32_t before = drops_of(socket_.get());
    const int little = 4096;
    EXPECT_EQ(::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &little, sizeof little), 0);
    for (int i = 0; i < 30; ++i) queue(std::string(1000, 'o'));
    return drops_of(socket_.get()) - before;
  }

  /// What one look brings, a word for each packet.
  std::string look(std::size_t most = 16) {
    RxPacket packets[16];
    const std::size_t n = receiver_.receive(socket_.get(), std::span(packets).first(most), counters_);
    std::string out;
    for (const RxPacket& p : std::span(packets).first(n))
      (out += out.empty() ? "" : " ").append(reinterpret_cast<const char*>(p.data), p.size);
    return out;
  }
  /// Until there is nothing any more.
  std::string read() {
    std::string out;
    for (std::string more = look(); !more.empty(); more = look()) (out += out.empty() ? "" : " ") += more;
    return out;
  }

  Fd socket_;
  SharedDoorway memory_ = std::make_shared<DoorwayMemory>();
  DoorwayMemory::Fill claimed_;
  UdpReceiver receiver_{*parse_address("127.0.0.1")};
  Counters counters_;
};

TEST_F(UdpReceiverTest, EverythingComesInItsOrder) {
  queue("a");
  mail("b");
  mail("c");
  queue("d");
  mail("e");
  EXPECT_EQ(read(), "a b c d e");
}

TEST_F(UdpReceiverTest, NothingOvertakesALetterBehindOneThatIsStillWritten) {
  const std::uint64_t slow = claim("slow");
  mail("a");
  queue("b");
  EXPECT_EQ(read(), "");
  EXPECT_FALSE(receiver_.rest()) << "it will come by nothing that wakes";
  publish(slow);
  EXPECT_EQ(read(), "slow a b");
  EXPECT_TRUE(receiver_.rest());
}

TEST_F(UdpReceiverTest, NorIsItReadAheadWithWhatCameBefore) {
  queue("a");
  const std::uint64_t slow = claim("slow");
  mail("b");
  queue("c");
  EXPECT_EQ(read(), "");
  publish(slow);
  EXPECT_EQ(read(), "a slow b c");
}

TEST_F(UdpReceiverTest, MailDoesNotWaitForWhatTheSocketDropped) {
  const std::uint32_t lost = overrun();
  ASSERT_GT(lost, 0u);
  read();
  queue("tells");
  EXPECT_EQ(read(), "tells");
  EXPECT_EQ(counters_.rx_overrun, lost);
  mail("a");
  queue("b");
  mail("c");
  EXPECT_EQ(read(), "a b c");
}

TEST_F(UdpReceiverTest, WhatWentToTheQueueAfterAllHidesNoOverrun) {
  for (int i = 0; i < 100; ++i) mail_in_vain("a");
  read();
  const std::uint32_t lost = overrun();
  ASSERT_GT(lost, 0u);
  read();
  queue("tells");
  read();
  EXPECT_EQ(counters_.rx_overrun, lost);
}

TEST_F(UdpReceiverTest, WhatWasDroppedBeforeItsTimeIsNoneOfItsOverruns) {
  ASSERT_GT(overrun(), 0u);
  receiver_.forget_overruns(socket_.get());
  queue("tells");
  read();
  EXPECT_EQ(counters_.rx_overrun, 0u);
}

TEST_F(UdpReceiverTest, WhoHasSeenHalfOfAMessageMustNotSleep) {
  receiver_.attend();
  mail("abcd", 2);
  EXPECT_EQ(look(1), "ab");
  EXPECT_FALSE(receiver_.rest());
  EXPECT_EQ(look(1), "cd");
  EXPECT_TRUE(receiver_.rest());
  queue("e");
  queue("f");
  EXPECT_EQ(look(1), "e");
  EXPECT_FALSE(receiver_.rest());
  EXPECT_EQ(look(1), "f");
  EXPECT_TRUE(receiver_.rest());
}

}  // namespace
}  // namespace mrc::port
