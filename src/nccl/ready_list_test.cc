#include "nccl/ready_list.h"

#include <gmock/gmock.h>

#include <array>
#include <cstdint>
#include <thread>
#include <vector>

namespace mrc::nccl {
namespace {

struct Worker : ReadyList::Entry {
  std::atomic<std::uint64_t> prepared{0};
  std::uint64_t seen = 0;
};

std::vector<ReadyList::Entry*> taken(ReadyList& list) {
  std::vector<ReadyList::Entry*> all;
  list.take_all([&](ReadyList::Entry& one) { all.push_back(&one); });
  return all;
}

TEST(ReadyList, EachIsTakenOnce) {
  ReadyList list;
  std::array<Worker, 3> workers;
  EXPECT_TRUE(list.empty());
  list.add(workers[0]);
  list.add(workers[2]);
  list.add(workers[0]);
  EXPECT_FALSE(list.empty());
  EXPECT_THAT(taken(list), ::testing::UnorderedElementsAre(&workers[0], &workers[2]));
  EXPECT_TRUE(list.empty());
  EXPECT_THAT(taken(list), ::testing::IsEmpty());
  list.add(workers[0]);
  EXPECT_THAT(taken(list), ::testing::ElementsAre(&workers[0])) << "it can come back";
}

TEST(ReadyList, WhoIsTakenMayBeAddedMeanwhile) {
  ReadyList list;
  Worker worker;
  list.add(worker);
  list.take_all([&](ReadyList::Entry& one) { list.add(one); });
  EXPECT_THAT(taken(list), ::testing::ElementsAre(&worker));
}

TEST(ReadyList, NothingThatWasPreparedIsLeftBehind) {
  constexpr std::uint64_t kSteps = 20'000;
  ReadyList list;
  std::array<Worker, 3> workers;
  std::vector<std::thread> threads;
  std::atomic<int> over{0};
  for (Worker& w : workers) {
    threads.emplace_back([&] {
      for (std::uint64_t i = 1; i <= kSteps; ++i) {
        w.prepared.store(i, std::memory_order_relaxed);
        list.add(w);
      }
      ++over;
    });
  }
  const auto look = [](ReadyList::Entry& one) {
    auto& w = static_cast<Worker&>(one);
    w.seen = w.prepared.load(std::memory_order_relaxed);
  };
  while (over < static_cast<int>(workers.size())) list.take_all(look);
  for (std::thread& t : threads) t.join();
  list.take_all(look);
  for (const Worker& w : workers) EXPECT_EQ(w.seen, kSteps);
}

}  // namespace
}  // namespace mrc::nccl
