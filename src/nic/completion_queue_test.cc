#include "nic/completion_queue.h"

#include <gtest/gtest.h>

#include <thread>

namespace mrc::nic {
namespace {

using Push = CompletionQueue::Push;

Cqe entry(std::uint64_t id, std::uint32_t qpn = 1) { return {.wr_id = id, .qpn = Qpn(qpn)}; }

TEST(CompletionQueue, FirstInFirstOut) {
  CompletionQueue cq(3);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(cq.push(entry(i), false), Push::quiet);
  Cqe out[2];
  ASSERT_EQ(cq.poll(out), 2u);
  EXPECT_EQ(out[1].wr_id, 1u);
  EXPECT_EQ(cq.push(entry(3), false), Push::quiet);
  ASSERT_EQ(cq.poll(out), 2u);
  EXPECT_EQ(out[1].wr_id, 3u);
  EXPECT_EQ(cq.poll(out), 0u);
}

// MRC-NIC-003
TEST(CompletionQueue, OverrunIsForGoodAndWhatIsInsideStays) {
  CompletionQueue cq(3);
  for (std::uint64_t i = 0; i < 3; ++i) cq.push(entry(i), false);
  EXPECT_FALSE(cq.overrun());
  EXPECT_EQ(cq.push(entry(9), false), Push::overrun);
  EXPECT_TRUE(cq.overrun());
  Cqe out[8];
  EXPECT_EQ(cq.poll(out), 3u);
  EXPECT_EQ(cq.push(entry(9), false), Push::overrun);
}

TEST(CompletionQueue, NotifiesOncePerArm) {
  CompletionQueue cq(16);
  cq.arm(false);
  EXPECT_EQ(cq.push(entry(1), false), Push::notify);
  EXPECT_EQ(cq.push(entry(2), false), Push::quiet);
  cq.arm(true);
  EXPECT_EQ(cq.push(entry(3), false), Push::quiet);
  EXPECT_EQ(cq.push(entry(4), true), Push::notify);
  cq.arm(false);
  cq.arm(true);  // the wider wish stays
  EXPECT_EQ(cq.push(entry(5), false), Push::notify);
}

TEST(CompletionQueue, PurgeTakesOutOneQp) {
  CompletionQueue cq(8);
  for (std::uint64_t i = 0; i < 6; ++i) cq.push(entry(i, i % 2 == 0 ? 7 : 8), false);
  cq.purge(Qpn(7));
  Cqe out[8];
  ASSERT_EQ(cq.poll(out), 3u);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(out[i].wr_id, 2 * i + 1);
}

TEST(CompletionQueue, AWaiterIsNeverForgotten) {
  CompletionQueue cq(4);
  constexpr std::uint64_t kCount = 20'000;
  std::atomic<std::uint64_t> notified{0};
  std::thread producer([&] {
    for (std::uint64_t i = 0; i < kCount; ++i) {
      while (i - notified.load() > 1'000'000) continue;
      Push result = Push::quiet;
      result = cq.push(entry(i), false);
      ASSERT_NE(result, Push::overrun);
      if (result == Push::notify) notified.fetch_add(1), notified.notify_one();
      while (!cq.empty()) std::this_thread::yield();  // one at a time, so that nothing overruns
    }
  });
  std::uint64_t seen = 0, wakes = 0;
  Cqe out[4];
  while (seen < kCount) {
    cq.arm(false);
    const std::size_t n = cq.poll(out);
    seen += n;
    if (n == 0 && seen < kCount)
      notified.wait(wakes);  // sleeps until a notification beyond those it knows of
    wakes = notified.load();
  }
  producer.join();
  EXPECT_EQ(seen, kCount);
}

}  // namespace
}  // namespace mrc::nic
