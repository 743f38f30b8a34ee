// Messages of every size, alone, in groups, many at once.
#include <gmock/gmock.h>

#include <random>

#include "nccl/connected_test.h"

namespace mrc::nccl::testing {
namespace {

struct Transfer : ConnectedTest {};
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
