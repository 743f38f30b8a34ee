// Short messages that go before their buffers are there, and what the receiver makes of them.
#include <gmock/gmock.h>

#include <random>

#include "nccl/connected_test.h"

namespace mrc::nccl::testing {
namespace {

struct Early : ConnectedTest {
  /// Lanes are taken in turns: the receiver gets another than the sender, so that who asks for the one does
  /// not drive the other, or the same again.
  void take_other_lane() {
    close_ends(*table, ends);
    HandleBytes unused;
    void* listener = nullptr;
    ASSERT_EQ(table->listen(unused.data(), &listener), kSuccess);
    table->close_listen(listener);
    ASSERT_TRUE(connect_ends(*table, ends)) << logged_warnings();
  }
};
MRC_ALL_VERSIONS(Early);

TEST_P(Early, AShortMessageGoesBeforeItsBufferIsThere) {
  Memory from(*table, ends.sender, 64, 5), to(*table, ends.receiver, 64, 0);
  void* early = post_send(*table, ends.sender, from.buffer(0, 40, 1));
  ASSERT_NE(early, nullptr);
  int sent = -1, received = -1;
  EXPECT_EQ(wait_for(*table, early, &sent), kSuccess);
  EXPECT_EQ(sent, 40);
  void* first = post_receive(*table, ends.receiver, {to.buffer(0, 64, 1)});
  EXPECT_EQ(wait_for(*table, first, &received), kSuccess);
  EXPECT_EQ(received, 40);
  EXPECT_TRUE(is(to.data(), 5, 40));
  EXPECT_EQ(to.data()[40], 0xEE);
}

// A message that is copied is done at once, and NCCL may have nothing to ask for a long time. The device's
// thread goes to sleep two milliseconds after the last long message: whoever hands one over just then must
// not rely on it.
TEST_P(Early, WhatIsDoneAtOnceLeavesAlthoughNobodyAsksAgain) {
  take_other_lane();
  constexpr std::size_t kLong = 20'000;
  Memory from(*table, ends.sender, kLong, 5), to(*table, ends.receiver, kLong, 0);
  const auto exchange = [&](std::size_t size) {
    void* receive = post_receive(*table, ends.receiver, {to.buffer(0, size, 1)});
    void* send = post_send(*table, ends.sender, from.buffer(0, size, 1), receive);
    return receive != nullptr && send != nullptr && wait_for(*table, send, nullptr) == kSuccess &&
           wait_for(*table, receive, nullptr) == kSuccess;
  };
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(exchange(kLong)) << logged_warnings();
    const auto then = std::chrono::steady_clock::now() + std::chrono::microseconds(1950 + i * 3);
    void* receive = post_receive(*table, ends.receiver, {to.buffer(0, 8, 1)});
    while (std::chrono::steady_clock::now() < then) continue;
    void* send = nullptr;
    ASSERT_EQ(table->send(ends.sender, from.buffer(0, 8, 1), &send), kSuccess);
    ASSERT_NE(receive, nullptr);
    if (send == nullptr) send = post_send(*table, ends.sender, from.buffer(0, 8, 1), receive);
    ASSERT_EQ(wait_for(*table, send, nullptr), kSuccess);
    ASSERT_EQ(wait_for(*table, receive, nullptr, std::chrono::seconds(5)), kSuccess) << "message " << i;
  }
  take_other_lane();
}

TEST_P(Early, SeveralShortMessagesGoBeforeTheirBuffers) {
  constexpr int kMost = 200;
  Memory from(*table, ends.sender, kMost, 5), to(*table, ends.receiver, kMost, 0);
  int went = 0;
  for (void* send = this; send != nullptr && went < kMost; went += send != nullptr) {
    ASSERT_EQ(table->send(ends.sender, from.buffer(went, 1, went % 2), &send), kSuccess);
  }
  EXPECT_GE(went, 8);
  EXPECT_LT(went, kMost) << "not without end";
  for (const int tag : {1, 0}) {
    for (int i = tag; i < went; i += 2) {
      void* receive = post_receive(*table, ends.receiver, {to.buffer(i, 1, tag)});
      ASSERT_EQ(wait_for(*table, receive, nullptr), kSuccess) << logged_warnings();
    }
  }
  EXPECT_TRUE(is(to.data(), 5, went)) << "each tag in its order";
  void* receive = post_receive(*table, ends.receiver, {to.buffer(0, 1, 0)});
  void* send = post_send(*table, ends.sender, from.buffer(1, 1, 0));
  ASSERT_NE(send, nullptr) << "and it goes on";
  EXPECT_EQ(wait_for(*table, receive, nullptr), kSuccess);
}

// Short messages make the receiver keep its grants back; a long one, a group, or a full ring must get them.
TEST_P(Early, ShortAndLongInEveryMixture) {
  constexpr int kMessages = 1000, kTags = 3;
  constexpr std::size_t kRoom = 30'000;
  Memory from(*table, ends.sender, kRoom * 2, 77), to(*table, ends.receiver, kRoom * kMessages, 0);
  std::mt19937 random(11);
  struct Message {
    std::size_t size, offset;
    int tag;
  };
  std::vector<Message> messages(kMessages);
  for (int i = 0; i < kMessages; ++i) {
    const bool all_short = i / 100 % 2 == 0;  // for a while, then not
    messages[i] = {random() % (all_short ? 190 : kRoom), random() % kRoom,
                   static_cast<int>(random() % kTags)};
  }
  int sent = 0, posted = 0;
  std::vector<void*> sends, receives;
  const auto finish = [&](std::vector<void*>& requests) {
    std::erase_if(requests, [&](void* r) {
      int done = 0;
      EXPECT_EQ(table->test(r, &done, nullptr), kSuccess) << logged_warnings();
      return done != 0;
    });
  };
  const auto post_next_receive = [&] {
    std::vector<Buffer> group;
    for (int i = posted; i < std::min<int>(posted + 1 + static_cast<int>(random() % 3), kMessages); ++i)
      group.push_back(to.buffer(kRoom * i, kRoom, messages[i].tag));
    void* request = nullptr;
    EXPECT_EQ(table->receive(ends.receiver, group, &request), kSuccess);
    if (request == nullptr) return;
    posted += static_cast<int>(group.size());
    receives.push_back(request);
  };
  const auto send_next = [&] {
    const Message& m = messages[sent];
    void* request = nullptr;
    EXPECT_EQ(table->send(ends.sender, from.buffer(m.offset, m.size, m.tag), &request), kSuccess);
    if (request == nullptr) return;
    ++sent;
    sends.push_back(request);
  };
  const bool over = drive([&] {
    if (posted < kMessages && receives.size() < 20 && random() % 2 == 0) post_next_receive();
    if (sent < kMessages && sends.size() < 32 && random() % 3 != 0) send_next();
    if (random() % 4 == 0) finish(sends), finish(receives);
    return HasFailure() || (sent == kMessages && posted == kMessages && sends.empty() && receives.empty());
  });
  ASSERT_TRUE(over) << sent << " " << posted << " " << logged_warnings();
  if (HasFailure()) return;  // what was lost may still arrive
  for (int i = 0; i < kMessages; ++i) {
    const std::uint8_t* got = to.data() + kRoom * i;
    for (std::size_t b = 0; b < messages[i].size; ++b)
      ASSERT_EQ(got[b], Memory::expected(77, messages[i].offset + b)) << "message " << i << " byte " << b;
    ASSERT_EQ(messages[i].size < kRoom ? got[messages[i].size] : 0xEE, 0xEE) << i;
  }
}

TEST_P(Early, AnEarlyMessageFindsItsTagInALaterGrant) {
  Memory from(*table, ends.sender, 3000, 5), to(*table, ends.receiver, 3000, 0);
  void* early = post_send(*table, ends.sender, from.buffer(0, 100, 9));
  ASSERT_NE(early, nullptr);
  void* others = post_receive(*table, ends.receiver, {to.buffer(0, 1000, 7), to.buffer(1000, 1000, 8)});
  void* its = post_receive(*table, ends.receiver, {to.buffer(2000, 1000, 9)});
  void* eight = post_send(*table, ends.sender, from.buffer(1000, 1000, 8));
  void* seven = post_send(*table, ends.sender, from.buffer(0, 50, 7));
  for (void* request : {early, eight, seven}) EXPECT_EQ(wait_for(*table, request, nullptr), kSuccess);
  int sizes[2] = {}, size = 0;
  EXPECT_EQ(wait_for(*table, others, sizes), kSuccess) << logged_warnings();
  EXPECT_EQ(wait_for(*table, its, &size), kSuccess);
  EXPECT_THAT(sizes, ::testing::ElementsAre(50, 1000));
  EXPECT_EQ(size, 100);
  EXPECT_TRUE(is(to.data() + 2000, 5, 100));
}

TEST_P(Early, AnEarlyMessageIsCutWhereItsBufferEnds) {
  Memory from(*table, ends.sender, 100, 5), to(*table, ends.receiver, 100, 0);
  void* early = post_send(*table, ends.sender, from.buffer(0, 100, 1));
  void* receive = post_receive(*table, ends.receiver, {to.buffer(0, 64, 1)});
  int received = -1;
  EXPECT_EQ(wait_for(*table, early, nullptr), kSuccess);
  EXPECT_EQ(wait_for(*table, receive, &received), kSuccess);
  EXPECT_EQ(received, 64);
  EXPECT_EQ(to.data()[64], 0xEE) << "beyond the buffer";
  EXPECT_THAT(logged_warnings(), ::testing::HasSubstr("is cut to the 64 bytes"));
}

}  // namespace
}  // namespace mrc::nccl::testing
