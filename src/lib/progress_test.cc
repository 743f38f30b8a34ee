#include "lib/progress.h"

#include <gtest/gtest.h>
#include <pthread.h>

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
                     .descriptors = [](auto&, auto&) { return true; },
                     .attend = [] {}},
                    {.spin = 10us, .aside = 500us});
  progress.note_poll(steady_now());
  ASSERT_TRUE(progress.start());
  for (const Time end = steady_now() + 50ms; steady_now() < end;) progress.note_poll(steady_now());
  const int before = turns;
  for (const Time end = steady_now() + 10s; turns == before && steady_now() < end;) std::this_thread::yield();
  EXPECT_GT(turns, before);
}

TEST(Progress, AThreadThatCannotBeStartedIsAnError) {
  pthread_attr_t before, endless;
  ASSERT_EQ(::pthread_getattr_default_np(&before), 0);
  ASSERT_EQ(::pthread_attr_init(&endless), 0);
  ::pthread_attr_setstacksize(&endless, std::size_t{1} << 47);  // no memory is large enough
  ::pthread_setattr_default_np(&endless);
  Progress progress({.turn = [](Time) { return false; },
                     .next_timeout = [] { return kNever; },
                     .descriptors = [](auto&, auto&) { return true; },
                     .attend = [] {}},
                    {.spin = 10us, .aside = 500us});
  const Status started = progress.start();
  ::pthread_setattr_default_np(&before);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, EAGAIN);
  EXPECT_TRUE(progress.start()) << "and later there is one";
}

}  // namespace
}  // namespace mrc::lib
