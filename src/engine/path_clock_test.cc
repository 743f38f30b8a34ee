// What answers teach about how long to wait for the next.
#include "engine/path_clock.h"

#include <gtest/gtest.h>

namespace mrc::engine {
namespace {

constexpr EvSlot kOne{1}, kTwo{2};

TEST(PathClock, AThinStreamForgetsALateAnswerWithinTensOfItsLength) {
  PathClock clock(4, 100us);
  Time now{};
  clock.note_delay(now, kOne, 5ms);
  EXPECT_EQ(clock.longest(), 5ms);
  for (; now < Time{} + 400ms; now += 1ms) clock.note_delay(now, kOne, 200us);
  EXPECT_EQ(clock.longest(), 200us);
}

TEST(PathClock, AFewAnswersAreNoReasonToForgetTheSlowest) {
  PathClock clock(4, 100us);
  Time now{};
  clock.note_delay(now, kOne, 5ms);
  for (int i = 0; i < 20; ++i) clock.note_delay(now += 100ms, kOne, 200us);
  EXPECT_EQ(clock.longest(), 5ms);
  for (int i = 0; i < 900; ++i) clock.note_delay(now += 1us, kTwo, 200us);
  EXPECT_EQ(clock.longest(), 5ms) << "it may be in the window before";
}

TEST(PathClock, AnEvThatWasSlowOnceIsNotWaitedForLongAfterEverybodyIsQuick) {
  PathClock clock(4, 100us);
  Time now{};
  clock.note_delay(now, kOne, 20ms);
  for (int i = 0; i < 4096; ++i) clock.note_delay(now += 10us, kTwo, 100us);
  EXPECT_LE(clock.delay(kOne), 200us);
}

TEST(PathClock, AnEvNeverHeardOfIsTakenForSlowerThanTheSlowest) {
  PathClock clock(4, 100us);
  EXPECT_EQ(clock.delay(kOne), 200us) << "a guess until something was measured";
  clock.note_delay(Time{}, kTwo, 300us);
  EXPECT_EQ(clock.delay(kOne), 600us);
}

}  // namespace
}  // namespace mrc::engine
