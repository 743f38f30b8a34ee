// Messages of every size, alone, in groups, many at once.
#include <gmock/gmock.h>

#include <random>

#include "nccl/versions.h"

namespace mrc::nccl::testing {
namespace {

struct Transfer : PluginTest {
  void SetUp() override {
    PluginTest::SetUp();
    ASSERT_TRUE(connect_ends(*table, ends)) << logged_warnings();
  }
  void TearDown() override {
    if (table != nullptr) close_ends(*table, ends);
  }
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
  static bool is(const std::uint8_t* data, std::uint8_t seed, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      if (data[i] != Memory::expected(seed, i)) return false;
    }
    return true;
  }
  Ends ends;
};
MRC_ALL_VERSIONS(Transfer);

TEST_P(Transfer, EverySizeArrivesWhole) {
  constexpr std::size_t kMost = 3'000'001;
  Memory from(*table, ends.sender, kMost, 9);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{255}, std::size_t{256},
        std::size_t{257}, std::size_t{4095}, std::size_t{4096}, std::size_t{4097}, std::size_t{49'999},
        std::size_t{50'000}, std::size_t{50'001}, std::size_t{524'288}, kMost}) {
    Memory to(*table, ends.receiver, size, 0);
    void* receive = post_receive(*table, ends.receiver, {to.buffer(0, size, 3)});
    void* send = post_send(*table, ends.sender, from.buffer(0, size, 3), receive);
    ASSERT_NE(receive, nullptr);
    ASSERT_NE(send, nullptr) << size;
    int sent = -1, received = -1;
    EXPECT_EQ(wait_for(*table, send, &sent), kSuccess) << logged_warnings();
    EXPECT_EQ(wait_for(*table, receive, &received), kSuccess) << logged_warnings();
    EXPECT_EQ(sent, static_cast<int>(size));
    EXPECT_EQ(received, static_cast<int>(size));
    EXPECT_TRUE(is(to.data(), 9, size)) << size;
    EXPECT_TRUE(to.margins_intact()) << size;
  }
}

TEST_P(Transfer, ALongerSendWaitsForItsBuffer) {
  constexpr std::size_t kSize = 20'000;
  Memory from(*table, ends.sender, kSize, 5), to(*table, ends.receiver, kSize, 0);
  void* send = nullptr;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(table->send(ends.sender, from.buffer(0, kSize, 1), &send), kSuccess);
    ASSERT_EQ(send, nullptr) << "nothing was granted";
  }
  void* receive = post_receive(*table, ends.receiver, {to.buffer(0, kSize, 1)});
  send = post_send(*table, ends.sender, from.buffer(0, kSize, 1));
  EXPECT_EQ(wait_for(*table, receive, nullptr), kSuccess);
  EXPECT_EQ(wait_for(*table, send, nullptr), kSuccess);
  EXPECT_TRUE(is(to.data(), 5, kSize));
}

TEST_P(Transfer, AShortMessageGoesBeforeItsBufferIsThere) {
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
TEST_P(Transfer, WhatIsDoneAtOnceLeavesAlthoughNobodyAsksAgain) {
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

TEST_P(Transfer, SeveralShortMessagesGoBeforeTheirBuffers) {
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
TEST_P(Transfer, ShortAndLongInEveryMixture) {
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

TEST_P(Transfer, AnEarlyMessageFindsItsTagInALaterGrant) {
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

TEST_P(Transfer, AnEarlyMessageIsCutWhereItsBufferEnds) {
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

TEST_P(Transfer, ShorterAndLongerThanTheBuffer) {
  Memory from(*table, ends.sender, 60'000, 5), to(*table, ends.receiver, 60'000, 0);
  struct Case {
    std::size_t send, room;
  };
  for (const Case c :
       {Case{10, 100}, Case{0, 100}, Case{20'000, 640}, Case{60'000, 50'500}, Case{20'000, 0}}) {
    void* receive = post_receive(*table, ends.receiver, {to.buffer(0, c.room, 0)});
    void* send = post_send(*table, ends.sender, from.buffer(0, c.send, 0), receive);
    int sent = -1, received = -1;
    EXPECT_EQ(wait_for(*table, send, &sent), kSuccess);
    EXPECT_EQ(wait_for(*table, receive, &received), kSuccess);
    const int expected = static_cast<int>(std::min(c.send, c.room));
    EXPECT_EQ(sent, expected);
    EXPECT_EQ(received, expected);
  }
  EXPECT_TRUE(is(to.data(), 5, 50'500));
  EXPECT_THAT(logged_warnings(),
              ::testing::HasSubstr("is cut to the 640 bytes that its receiver has room for"));
  for (std::size_t i = 50'500; i < 60'000; ++i) ASSERT_EQ(to.data()[i], 0xEE) << "beyond the buffer";
}

TEST_P(Transfer, GroupsAreFilledByTagInAnyOrder) {
  constexpr int kMembers = 8;
  constexpr std::size_t kRoom = 70'000;
  Memory to(*table, ends.receiver, kRoom * kMembers, 0);
  std::vector<std::unique_ptr<Memory>> from;
  std::vector<Buffer> buffers;
  for (int i = 0; i < kMembers; ++i) {
    buffers.push_back(to.buffer(kRoom * i, kRoom, 100 + i));
    from.push_back(std::make_unique<Memory>(*table, ends.sender, kRoom, 20 + i));
  }
  void* receive = post_receive(*table, ends.receiver, buffers);
  ASSERT_NE(receive, nullptr);
  const int order[kMembers] = {3, 0, 7, 1, 6, 2, 5, 4};
  std::vector<void*> sends;
  for (const int i : order) {
    if (i == 6) {  // before the last is sent, the group is not done
      int done = 1;
      ASSERT_EQ(table->test(receive, &done, nullptr), kSuccess);
      EXPECT_EQ(done, 0);
    }
    sends.push_back(post_send(*table, ends.sender, from[i]->buffer(0, kRoom - 1000 * i, 100 + i)));
  }
  int sizes[kMembers] = {};
  EXPECT_EQ(wait_for(*table, receive, sizes), kSuccess);
  for (void* s : sends) EXPECT_EQ(wait_for(*table, s, nullptr), kSuccess);
  for (int i = 0; i < kMembers; ++i) {
    EXPECT_EQ(sizes[i], static_cast<int>(kRoom) - 1000 * i);
    EXPECT_TRUE(is(to.data() + kRoom * i, 20 + i, kRoom - 1000 * i)) << i;
  }
  void* request = this;
  EXPECT_EQ(table->flush(ends.receiver, buffers, &request), kSuccess);
  EXPECT_EQ(request, nullptr) << "nothing to wait for";
}

TEST_P(Transfer, ATagOfALaterGroupWaitsForItsTurn) {
  constexpr int kLong = 20'000;  // too long to go before its grant
  Memory from(*table, ends.sender, kLong, 4), to(*table, ends.receiver, 2 * kLong, 0);
  void* first = post_receive(*table, ends.receiver, {to.buffer(0, kLong, 1)});
  void* second = post_receive(*table, ends.receiver, {to.buffer(kLong, kLong, 2)});
  void* send = nullptr;
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(table->send(ends.sender, from.buffer(0, kLong, 2), &send), kSuccess);
    ASSERT_EQ(send, nullptr) << "tag 1 comes first";
  }
  void* one = post_send(*table, ends.sender, from.buffer(0, kLong, 1));
  void* two = post_send(*table, ends.sender, from.buffer(0, kLong, 2));
  for (void* r : {first, second, one, two}) EXPECT_EQ(wait_for(*table, r, nullptr), kSuccess);
}

/// One direction of a pipeline: posts as many as the plugin takes, then waits for the oldest.
struct Pipeline {
  explicit Pipeline(int total) : requests(static_cast<std::size_t>(total)) {}
  template <class Post>
  bool post(Post&& post_one) {
    if (posted == requests.size() || posted - finished == kMostOutstanding) return false;
    EXPECT_EQ(post_one(static_cast<int>(posted), &requests[posted]), kSuccess) << logged_warnings();
    const bool taken = requests[posted] != nullptr;
    posted += taken;
    return taken;
  }
  void finish(Table& table, std::vector<int>& sizes) {
    if (finished == posted) return;
    int done = 0;
    EXPECT_EQ(table.test(requests[finished], &done, &sizes[finished]), kSuccess) << logged_warnings();
    finished += static_cast<std::size_t>(done);
  }
  bool over() const { return finished == requests.size(); }
  static constexpr std::size_t kMostOutstanding = 32;  // NCCL's promise to a plugin
  std::vector<void*> requests;
  std::size_t posted = 0, finished = 0;
};

TEST_P(Transfer, ManyOutstanding) {
  constexpr int kMessages = 600;
  constexpr std::size_t kRoom = 9'000;
  Memory from(*table, ends.sender, kRoom * 4, 77), to(*table, ends.receiver, kRoom * kMessages, 0);
  std::mt19937 random(7);
  std::vector<std::size_t> sizes(kMessages);
  for (auto& s : sizes) s = random() % kRoom;
  Pipeline sends(kMessages), receives(kMessages);
  std::vector<int> sent(kMessages), received(kMessages);
  std::size_t deepest = 0;
  const auto post_receive_of = [&](int i, void** r) {
    return table->receive(ends.receiver, {to.buffer(kRoom * i, kRoom, i)}, r);
  };
  const auto post_send_of = [&](int i, void** r) {
    return table->send(ends.sender, from.buffer(i % 4 * kRoom, sizes[i], i), r);
  };
  const auto step = [&] {
    const bool took = receives.post(post_receive_of) | sends.post(post_send_of);
    deepest = std::max(deepest, receives.posted - receives.finished);
    if (!took) receives.finish(*table, received), sends.finish(*table, sent);
    return (receives.over() && sends.over()) || HasFailure();
  };
  ASSERT_TRUE(drive(step)) << sends.posted << " " << receives.posted << " " << receives.finished
                           << logged_warnings();
  EXPECT_EQ(deepest, Pipeline::kMostOutstanding);
  for (int m = 0; m < kMessages; ++m) {
    ASSERT_EQ(received[m], static_cast<int>(sizes[m]));
    ASSERT_EQ(sent[m], received[m]);
    for (std::size_t i = 0; i < sizes[m]; ++i) {
      ASSERT_EQ(to.data()[kRoom * m + i], Memory::expected(77, m % 4 * kRoom + i))
          << "message " << m << " byte " << i;
    }
  }
}

TEST_P(Transfer, RefusesWhatItCannotDo) {
  std::uint8_t byte = 0;
  void* memory = nullptr;
  EXPECT_EQ(table->register_memory(ends.sender, &byte, 1, kPtrCuda, &memory), kInvalidArgument);
  EXPECT_EQ(memory, nullptr);
  EXPECT_THAT(logged_warnings(), ::testing::HasSubstr("only host memory"));
  Memory to(*table, ends.receiver, 16, 0);
  void* request = nullptr;
  EXPECT_EQ(table->receive(ends.receiver, std::vector<Buffer>(9, to.buffer(0, 1, 0)), &request),
            kInvalidArgument);
  EXPECT_EQ(table->receive(ends.receiver, {}, &request), kInvalidArgument);
}

}  // namespace
}  // namespace mrc::nccl::testing
