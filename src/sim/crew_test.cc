// The event loop: order, lookahead, and one result on any number of threads.
#include "sim/crew.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/prng.h"

namespace mrc::sim {
namespace {

TEST(ArrivalSorter, OrdersByTimeThenLink) {
  Prng prng(7);
  ArrivalSorter sorter;
  for (const std::size_t n : {0u, 1u, 5u, 13u, 64u, 1000u}) {
    std::vector<Transit> arrivals(n);
    for (Transit& t : arrivals) {
      t.when = 5000 + static_cast<Ps>(prng.below(n < 100 ? 8 : 100'000));
      t.via = prng.below(64);
    }
    std::vector<Transit> sorted;
    sorter.sort(arrivals, 5000, 105'000, sorted);
    EXPECT_EQ(sorted.size(), n);
    EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end(), arrives_before));
  }
}

TEST(Inbox, KeepsWhatIsNotDue) {
  Inbox inbox;
  ArrivalSorter sorter;
  std::vector<Transit> due;
  for (const Ps when : {30, 10, 25, 19}) inbox.push({when, 0, 0});
  EXPECT_EQ(inbox.take(10, 20, sorter, due), 25);
  ASSERT_EQ(due.size(), 2u);
  EXPECT_EQ(due[0].when, 10);
  EXPECT_EQ(due[1].when, 19);
  EXPECT_EQ(inbox.take(20, 40, sorter, due), kNeverPs);
  EXPECT_EQ(due.size(), 2u);
  EXPECT_TRUE(inbox.empty());
}

TEST(Agenda, RunsANodeOnceAtItsEarliestWindow) {
  Agenda agenda(4);
  agenda.note(1, 9);
  agenda.note(1, 5);
  agenda.note(1, 7);
  agenda.note(2, 100'000);
  EXPECT_EQ(agenda.next(), 5);
  std::vector<std::uint32_t> nodes;
  agenda.take(5, nodes);
  EXPECT_THAT(nodes, testing::ElementsAre(1));
  EXPECT_EQ(agenda.next(), 100'000) << "what the node had asked for before it ran is forgotten";
  agenda.note(1, 9);
  agenda.take(9, nodes);
  EXPECT_THAT(nodes, testing::ElementsAre(1));
  agenda.note(3, 100'000);
  agenda.note(3, 99'990);
  EXPECT_EQ(agenda.next(), 99'990);
  agenda.take(99'990, nodes);
  agenda.take(100'000, nodes);
  EXPECT_THAT(nodes, testing::ElementsAre(2));
  EXPECT_EQ(agenda.next(), kNoWindow);
}

TEST(SlotStore, SlotsAreUsedAgain) {
  SlotStore<std::uint64_t> store;
  SlotCache<std::uint64_t> cache(store);
  for (int round = 0; round < 3; ++round) {
    std::vector<std::uint32_t> slots;
    for (std::uint64_t i = 0; i < 5000; ++i) cache[slots.emplace_back(cache.take())] = i;
    for (std::uint64_t i = 0; i < 5000; ++i) EXPECT_EQ(cache[slots[i]], i);
    for (const std::uint32_t s : slots) cache.give(s);
  }
  EXPECT_EQ(store.capacity(), 16384u);
}

// Nodes that pass words on to a node chosen by the word and by all that they have seen: any change of order
// shows.
class Gossip {
 public:
  using Slot = std::uint64_t;
  explicit Gossip(std::size_t nodes) : seen(nodes) {}

  static void tell(Shard<Gossip>& shard, std::uint32_t to, Ps when, std::uint32_t from, std::uint64_t word) {
    const std::uint32_t slot = shard.slots().take();
    shard.slots()[slot] = word;
    shard.deliver(to, {when, signal_via(from), slot});
  }
  Ps run(Shard<Gossip>& shard, std::uint32_t node, Ps begin, Ps end, std::span<const Transit> arrivals) {
    for (const Transit& t : arrivals) {
      EXPECT_GE(t.when, begin);
      EXPECT_LT(t.when, end);
      seen[node] =
          (seen[node] ^ shard.slots()[t.slot]) * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(t.when);
      shard.slots().give(t.slot);
      const std::uint64_t word = seen[node] >> 7;
      if (t.when > 400'000) continue;
      // One signal of a sender arrives at a time: the sender's number keeps the times apart.
      const Ps when = (t.when + 1000 + static_cast<Ps>(word % 3000)) / 128 * 128 + 128 + node;
      tell(shard, static_cast<std::uint32_t>(word % seen.size()), when, node, word);
    }
    return kNeverPs;
  }
  bool proceed(Ps) { return true; }
  std::vector<std::uint64_t> seen;
};

std::vector<std::uint64_t> gossip_on(unsigned threads) {
  constexpr std::size_t kNodes = 97;
  Gossip model(kNodes);
  Layout layout{std::vector<std::uint8_t>(kNodes), threads, 1000};
  for (std::size_t n = 0; n < kNodes; ++n) layout.shard_of[n] = static_cast<std::uint8_t>(n % threads);
  Crew<Gossip> crew(model, layout);
  for (std::uint32_t n = 0; n < kNodes; ++n) Gossip::tell(crew.shard_of(n), n, n / 7, n, n * n);
  crew.run();
  return model.seen;
}

TEST(Crew, OneResultOnAnyNumberOfThreads) {
  const auto one = gossip_on(1);
  EXPECT_EQ(gossip_on(2), one);
  EXPECT_EQ(gossip_on(5), one);
  EXPECT_THAT(one, testing::Not(testing::Contains(0)));
}

}  // namespace
}  // namespace mrc::sim
