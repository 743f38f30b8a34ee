// Packets that come by the mailbox: the same as by the socket, in the same order, and none is lost when its
// reader looks away.
#include "port/mailbox.h"

#include <atomic>
#include <thread>

#include "base/prng.h"
#include "port/udp_port_test_support.h"

namespace mrc::port {
namespace {

class MailboxTest : public UdpPortTest {
 protected:
  void SetUp() override {
    UdpPortTest::SetUp();
    if (IsSkipped()) return;
    right_.reset();
    right_ = open_right({.local = right_address_});
    if (!right_->capabilities().cheap_to_ask) GTEST_SKIP() << "no right to load programs here";
  }
  void send(std::size_t bytes, std::uint32_t packet_bytes = 0, std::uint16_t source_port = 50001) {
    TestTrain out(pattern(bytes), packet_bytes != 0 ? packet_bytes : static_cast<std::uint32_t>(bytes),
                  right_address_, source_port);
    out.train.tos = 18 << 2 | 2;
    out.train.flow_label = 0x1BEEF;
    ASSERT_EQ(left_->tx({&out.train, 1}), 1u);
    ASSERT_EQ(out.train.error, 0);
  }
  bool socket_is_readable() const {
    pollfd p{right_->wait_fd(), POLLIN, 0};
    return ::poll(&p, 1, 50) == 1;
  }
};

INSTANTIATE_TEST_SUITE_P(Families, MailboxTest, ::testing::Values(AF_INET, AF_INET6),
                         [](const auto& param) { return param.param == AF_INET ? "v4" : "v6"; });

TEST_P(MailboxTest, WhatItBringsIsWhatTheSocketBrings) {
  send(70);
  const auto by_socket = receive(*right_, 1);
  right_->attend();
  send(70);
  EXPECT_FALSE(socket_is_readable());
  const auto by_mail = receive(*right_, 1);
  ASSERT_EQ(by_socket.size(), 1u);
  ASSERT_EQ(by_mail.size(), 1u);
  EXPECT_EQ(by_mail[0].bytes, by_socket[0].bytes);
  EXPECT_EQ(by_mail[0].from, by_socket[0].from);
  EXPECT_EQ(by_mail[0].to, by_socket[0].to);
  EXPECT_EQ(by_mail[0].source_port, by_socket[0].source_port);
  EXPECT_EQ(by_mail[0].flow_label, by_socket[0].flow_label);
  EXPECT_EQ(by_mail[0].tos, by_socket[0].tos);
  EXPECT_EQ(right_->counters().rx_packets, 2u);
  EXPECT_EQ(right_->counters().rx_bytes, 140u);
}

TEST_P(MailboxTest, ATrainOfShortPacketsIsShownPacketByPacketAsFarAsThereIsRoom) {
  right_->attend();
  send(68 + 52, 68);
  EXPECT_FALSE(socket_is_readable());
  const auto two = receive(*right_, 2);
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].bytes + two[1].bytes, pattern(68 + 52));
  EXPECT_EQ(two[0].bytes.size(), 68u);
  send(30 * 40 + 8, 40);  // receive() has room for 16
  std::string joined;
  for (const Arrival& a : receive(*right_, 31)) joined += a.bytes;
  EXPECT_EQ(joined, pattern(30 * 40 + 8));
}

TEST_P(MailboxTest, WhatFindsNoLetterGoesToTheSocketAndKeepsItsOrder) {
  right_->attend();
  constexpr unsigned kMessages = DoorwayMemory::kLetters + 20;
  for (unsigned i = 0; i < kMessages; ++i) send(100 + i);
  EXPECT_TRUE(socket_is_readable());
  const auto got = receive(*right_, kMessages);
  ASSERT_EQ(got.size(), kMessages);
  for (unsigned i = 0; i < kMessages; ++i) EXPECT_EQ(got[i].bytes, pattern(100 + i));
}

TEST_P(MailboxTest, WhatFindsNoBytesGoesToTheSocketAndKeepsItsOrder) {
  right_->attend();
  constexpr unsigned kTrains = 12, kPacket = 4160;  // eight fit
  for (unsigned lap = 0; lap < 5; ++lap) {          // somewhere one lies across the end
    for (unsigned i = 0; i < kTrains; ++i) send(15 * kPacket - 10 * lap - i, kPacket);
    EXPECT_TRUE(socket_is_readable());
    const auto got = receive(*right_, 15 * kTrains);
    ASSERT_EQ(got.size(), 15 * kTrains);
    for (unsigned i = 0; i < kTrains; ++i) {
      std::string train;
      for (unsigned k = 0; k < 15; ++k) train += got[15 * i + k].bytes;
      EXPECT_EQ(train, pattern(15 * kPacket - 10 * lap - i)) << lap << " " << i;
    }
  }
}

// Who asks behind a packet of data must not hear that it has not come.
TEST_P(MailboxTest, NothingOvertakesWhatCameToTheSocketBefore) {
  right_->rest();
  send(4000);
  right_->attend();
  send(70);
  right_->rest();
  send(4001);
  right_->attend();
  send(71);
  const auto got = receive(*right_, 4);
  ASSERT_EQ(got.size(), 4u);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(got[i].bytes.size(), (i % 2 == 0 ? 4000u : 70u) + i / 2);
}

TEST_P(MailboxTest, TheOrderHoldsWhileTheyComeBothWays) {
  constexpr unsigned kMessages = 20'000, kAtOnce = 40;
  std::atomic<unsigned> received{0}, out_of_order{0};
  std::thread reader([&] {
    RxPacket packets[16];
    Prng dice(2);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (received < kMessages && std::chrono::steady_clock::now() < end) {
      if (dice.below(3) == 0) dice.below(2) == 0 ? static_cast<void>(right_->rest()) : right_->attend();
      const std::size_t n = right_->rx(packets);
      for (std::size_t i = 0; i < n; ++i) {
        unsigned number = 0;
        std::memcpy(&number, packets[i].data, sizeof number);
        out_of_order += number != received++;
      }
    }
  });
  Prng prng(1);
  for (unsigned i = 0; i < kMessages; ++i) {
    while (i - received >= kAtOnce) std::this_thread::yield();
    TestTrain out(pattern(prng.below(2) == 0 ? 70 : 2000), 2000, right_address_, 50001, 2000);
    std::memcpy(out.bytes.data(), &i, sizeof i);
    ASSERT_EQ(left_->tx({&out.train, 1}), 1u);
  }
  reader.join();
  EXPECT_EQ(received, kMessages);
  EXPECT_EQ(out_of_order, 0u);
}

TEST_P(MailboxTest, WhoRestsIsWokenBySocketsAgain) {
  right_->attend();
  send(70);
  EXPECT_FALSE(right_->rest()) << "something is there already";
  send(71);
  EXPECT_TRUE(socket_is_readable());
  EXPECT_EQ(receive(*right_, 2).size(), 2u);
  EXPECT_TRUE(right_->rest());
}

TEST_P(MailboxTest, ItsMessagesAreNoOverruns) {
  for (int i = 0; i < 100; ++i) {
    right_->attend();
    send(70);
    right_->rest();
    send(4000);
    ASSERT_EQ(receive(*right_, 2).size(), 2u);
  }
  EXPECT_EQ(right_->counters().rx_overrun, 0u);
}

TEST_P(MailboxTest, NothingIsLostWhileItsReaderLooksAwayAndBack) {
  constexpr unsigned kMessages = 20'000, kAtOnce = 32;
  std::atomic<unsigned> sent{0}, received{0};
  std::thread reader([&] {
    RxPacket packets[16];
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (received < kMessages && std::chrono::steady_clock::now() < end) {
      right_->attend();
      for (int looks = 0; looks < 3; ++looks) received += static_cast<unsigned>(right_->rx(packets));
      if (!right_->rest()) continue;
      pollfd p{right_->wait_fd(), POLLIN, 0};
      // If nothing wakes us, and all that was sent is not here, it lies where nobody looks.
      const unsigned before = sent;
      if (::poll(&p, 1, 1000) == 0 && received < before) break;
    }
  });
  for (unsigned i = 0; i < kMessages && !HasFailure(); ++i) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (i - received >= kAtOnce && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    send(70);
    ++sent;
  }
  reader.join();
  EXPECT_EQ(received, kMessages);
}

}  // namespace
}  // namespace mrc::port
