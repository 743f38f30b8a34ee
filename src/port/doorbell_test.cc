#include "port/doorbell.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <optional>

#include "port/fd.h"

namespace mrc::port {
namespace {

/// A UDP socket on loopback that sends to itself, with a bell.
class DoorbellTest : public ::testing::Test {
 protected:
  void SetUp() override {
    socket_ = Fd(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0));
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    ASSERT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&name), size), 0);
    ASSERT_EQ(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&name), &size), 0);
    ASSERT_EQ(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&name), size), 0);
    auto doorway = build_doorway(socket_.get());
    if (!doorway) GTEST_SKIP() << doorway.error().what;
    bell_.emplace(*doorway);
  }
  void send(int messages, std::size_t bytes = 8) {
    const std::string data(bytes, 'm');
    for (int i = 0; i < messages; ++i) ASSERT_GT(::send(socket_.get(), data.data(), data.size(), 0), 0);
  }
  bool readable() {
    pollfd p{socket_.get(), POLLIN, 0};
    return ::poll(&p, 1, 1000) == 1;
  }
  bool take() {
    char byte;
    return ::recv(socket_.get(), &byte, 1, MSG_TRUNC) > 0;
  }
  /// How often it says that there is something, of so many times.
  int calls_in(int looks) {
    int calls = 0;
    for (int i = 0; i < looks; ++i) calls += bell_->waiting() != 0;
    return calls;
  }

  Fd socket_;
  std::optional<Doorbell> bell_;
};

TEST_F(DoorbellTest, CountsWhatCameAndWasNotTaken) {
  EXPECT_EQ(bell_->waiting(), 0u);
  send(3);
  ASSERT_TRUE(readable());
  EXPECT_EQ(bell_->waiting(), 3u);
  ASSERT_TRUE(take());
  bell_->took(1);
  EXPECT_EQ(bell_->waiting(), 2u);
  ASSERT_TRUE(take() && take());
  bell_->took(2);
  EXPECT_EQ(bell_->waiting(), 0u);
}

TEST_F(DoorbellTest, ItsSilenceIsNotTrustedForEver) {
  const int calls = calls_in(1000);
  EXPECT_GT(calls, 0);
  EXPECT_LT(calls, 50);
}

TEST_F(DoorbellTest, WhatFoundNoRoomIsForgottenAndTheNextOneRings) {
  const int small = 2048;
  ASSERT_EQ(::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
  send(50, 1000);
  ASSERT_TRUE(readable());
  std::uint32_t taken = 0;
  while (take()) bell_->took(1), ++taken;
  ASSERT_LT(taken, 50u) << "the queue was to overflow";
  EXPECT_GT(bell_->waiting(), 0u) << "the rest rang";
  for (int looks = 0; looks < 1000 && bell_->waiting() > 1; ++looks) bell_->took_nothing();
  EXPECT_LT(calls_in(1000), 50) << "and is forgotten";
  send(1);
  ASSERT_TRUE(readable());
  EXPECT_EQ(bell_->waiting(), 1u);
}

TEST_F(DoorbellTest, WhatCameBeforeItDoesNotHideWhatComesAfter) {
  send(2);
  ASSERT_TRUE(readable());
  bell_.reset();
  const auto doorway = build_doorway(socket_.get());
  ASSERT_TRUE(doorway);
  Doorbell late(*doorway);
  ASSERT_TRUE(take() && take());
  late.took(2);
  send(1);
  ASSERT_TRUE(readable());
  EXPECT_EQ(late.waiting(), 1u);
}

}  // namespace
}  // namespace mrc::port
