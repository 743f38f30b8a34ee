#include "nic/timer_heap.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/prng.h"

namespace mrc::nic {
namespace {

Time at(std::int64_t ns) { return Time(Duration(ns)); }

TEST(TimerHeap, EarliestComesFirst) {
  TimerHeap heap;
  Timed a(TimedKind::qp), b(TimedKind::qp), c(TimedKind::qp);
  heap.arm(a, at(30));
  heap.arm(b, at(10));
  heap.arm(c, at(20));
  EXPECT_EQ(heap.earliest(), at(10));
  EXPECT_EQ(heap.pop_due(at(9)), nullptr);
  EXPECT_EQ(heap.pop_due(at(25)), &b);
  EXPECT_EQ(heap.pop_due(at(25)), &c);
  EXPECT_EQ(heap.pop_due(at(25)), nullptr);
  heap.remove(a);
  EXPECT_EQ(heap.earliest(), kNever);
}

TEST(TimerHeap, EarlierMovesAtOnceLaterWhenItComesUp) {
  TimerHeap heap;
  Timed a(TimedKind::qp);
  heap.arm(a, at(30));
  heap.arm(a, at(10));
  EXPECT_EQ(heap.earliest(), at(10));
  heap.arm(a, at(50));
  EXPECT_EQ(heap.pop_due(at(10)), &a);  // too early, which its owner notices
  heap.arm(a, kNever);
  EXPECT_EQ(heap.size(), 0u);
}

TEST(TimerHeap, AgreesWithASortedListThroughRandomUse) {
  TimerHeap heap;
  std::vector<Timed> items(100, Timed(TimedKind::qp));
  Prng prng(3);
  for (int step = 0; step < 50'000; ++step) {
    Timed& item = items[prng.below(100)];
    switch (prng.below(3)) {
      case 0: heap.arm(item, at(prng.below(1000))); break;
      case 1: heap.remove(item); break;
      default: heap.pop_due(at(prng.below(300))); break;
    }
    Time earliest = kNever;
    std::size_t inside = 0;
    for (const Timed& t : items) {
      if (t.heap_position == Timed::kNotInHeap) continue;
      earliest = std::min(earliest, t.deadline);
      ++inside;
    }
    ASSERT_EQ(heap.earliest(), earliest);
    ASSERT_EQ(heap.size(), inside);
  }
}

}  // namespace
}  // namespace mrc::nic
