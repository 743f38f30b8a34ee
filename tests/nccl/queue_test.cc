// A completion queue that fails, or brings something late.
#include <gmock/gmock.h>

#include <cstdlib>
#include <thread>

#include "nccl/completions.h"
#include "nccl/connected_test.h"

namespace mrc::nccl::testing {
namespace {

/// Before any plugin starts: whoever has closed waits for who is kept waiting here.
[[maybe_unused]] const int kPatient = ::setenv("NCCL_OPENMRC_LINGER_MS", "20000", 0);
constexpr auto kBetweenLooks = std::chrono::milliseconds(20);  // of the plugin at a connection, and more
constexpr int kCallsPerLook = 64;

struct Queue : ConnectedTest {
  const int before = goodbyes();
  /// By a connection of this test: those of earlier ones have said theirs, or never will.
  bool goodbye_was_said() const { return goodbyes() > before; }
};
// No version plays a part.
INSTANTIATE_TEST_SUITE_P(Abi, Queue, ::testing::Values(11), version_name);

TEST_P(Queue, ItsFailureIsAnErrorOfEachCommThatUsesIt) {
  Memory to(*table, ends.receiver, 8, 0), from(*table, ends.sender, 20'000, 1);
  void* receive = post_receive(*table, ends.receiver, {to.buffer(0, 8, 1)});
  ASSERT_NE(receive, nullptr);
  let_polls_fail(true);
  EXPECT_EQ(wait_for(*table, receive, nullptr, std::chrono::seconds(5)), kSystemError);
  EXPECT_THAT(logged_warnings(),
              ::testing::HasSubstr("lost 127.0.0.1: the completion queue on this side has failed: "));
  void* send = nullptr;
  Code code = kSuccess;
  EXPECT_TRUE(drive([&] {
    code = table->send(ends.sender, from.buffer(0, 20'000, 2), &send);  // nobody has a buffer for it
    return code != kSuccess || send != nullptr;
  }));
  EXPECT_EQ(code, kSystemError);
  let_polls_fail(false);
  close_ends(*table, ends);
  EXPECT_TRUE(connect_ends(*table, ends)) << "others get another queue";
  Memory again(*table, ends.receiver, 8, 0);
  receive = post_receive(*table, ends.receiver, {again.buffer(0, 8, 1)});
  send = post_send(*table, ends.sender, from.buffer(0, 8, 1));
  EXPECT_EQ(wait_for(*table, receive, nullptr), kSuccess) << logged_warnings();
}

// NCCL's thread asks, does something else for a while, and asks again: meanwhile the last message has come.
TEST_P(Queue, WhatComesWhenThePeerHasGoneIsTakenAndNoError) {
  Memory to(*table, ends.receiver, kLeastKept, 0), from(*table, ends.sender, kLeastKept, 1);
  void* receive = post_receive(*table, ends.receiver, {to.buffer(0, kLeastKept, 1)});
  ASSERT_NE(receive, nullptr);
  keep(Kept::arrivals);
  ASSERT_NE(post_send(*table, ends.sender, from.buffer(0, kLeastKept, 1)), nullptr);
  int done = 0;
  EXPECT_TRUE(drive([&] { return table->test(receive, &done, nullptr) != kSuccess || has_kept(); }));
  table->close_send(ends.sender);
  ends.sender = nullptr;
  EXPECT_TRUE(drive([&] { return goodbye_was_said(); }));
  std::this_thread::sleep_for(kBetweenLooks);
  for (int i = 0; i < kCallsPerLook; ++i) EXPECT_EQ(table->test(receive, &done, nullptr), kSuccess);
  EXPECT_EQ(done, 0);
  std::this_thread::sleep_for(kBetweenLooks);
  keep(Kept::nothing);
  EXPECT_EQ(wait_for(*table, receive, nullptr), kSuccess) << logged_warnings();
  EXPECT_TRUE(is(to.data(), 1, kLeastKept));
}

// The network, or a busy host, may hold the last ACK back for longer than the goodbye takes.
TEST_P(Queue, AMessageMayBeAcknowledgedAfterTheGoodbyeOfWhoReceivedIt) {
  constexpr std::size_t kLong = 20'000;
  Memory to(*table, ends.receiver, kLong, 0), from(*table, ends.sender, kLong, 1);
  void *receive = nullptr, *send = nullptr;
  for (const std::size_t size : {std::size_t{8}, kLong}) {
    if (size == kLong) keep(Kept::acknowledgements);
    receive = post_receive(*table, ends.receiver, {to.buffer(0, size, 1)});
    send = post_send(*table, ends.sender, from.buffer(0, size, 1), receive);
    ASSERT_NE(send, nullptr) << logged_warnings();
    ASSERT_EQ(wait_for(*table, receive, nullptr), kSuccess) << logged_warnings();
    if (size < kLong) {
      ASSERT_EQ(wait_for(*table, send, nullptr), kSuccess);
    }
  }
  EXPECT_TRUE(drive([&] {
    int done = 0;
    return table->test(send, &done, nullptr) != kSuccess || done != 0 || has_kept();
  }));
  table->close_receive(ends.receiver);
  ends.receiver = nullptr;
  EXPECT_TRUE(drive([&] { return goodbye_was_said(); }));
  EXPECT_EQ(wait_for(*table, send, nullptr, 10 * kBetweenLooks), kInternalError) << "neither done nor lost";
  keep(Kept::nothing);
  EXPECT_EQ(wait_for(*table, send, nullptr), kSuccess) << logged_warnings();
}

}  // namespace
}  // namespace mrc::nccl::testing
