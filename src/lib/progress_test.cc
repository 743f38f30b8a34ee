#include "lib/progress.h"

#include <gtest/gtest.h>

#include <atomic>

namespace mrc::lib {
namespace {

TEST(Progress, LooksAfterASteadyApplicationLessOften) {
  EXPECT_EQ(next_look(0us, 500us), 500us);
  EXPECT_EQ(next_look(2ms, 500us), 500us);
  EXPECT_EQ(next_look(8ms, 500us), 2ms);
  EXPECT_EQ(next_look(1s, 500us), 4ms);
}

TEST(Progress, TakesOverWhenTheApplicationStops) {
  std::atomic<int> turns = 0;
  Progress progress({.turn =
                         [&](Time) {
                           ++turns;
                           return false;
                         },
                     .next_timeout = [] { return steady_now() + 1ms; },
                     .descriptors = [](auto&, auto&) {}},
                    {.spin = 10us, .aside = 500us});
  progress.note_poll(steady_now());
  ASSERT_TRUE(progress.start());
  for (const Time end = steady_now() + 50ms; steady_now() < end;) progress.note_poll(steady_now());
  const int before = turns;
  for (const Time end = steady_now() + 10s; turns == before && steady_now() < end;) std::this_thread::yield();
  EXPECT_GT(turns, before);
}

}  // namespace
}  // namespace mrc::lib
