// Paths that are slow instead of dead: how an EV with late answers is spared, and comes back.
#include <gtest/gtest.h>

#include "engine/path_clock.h"
#include "engine/path_set_testing.h"

namespace mrc::engine {
namespace {

constexpr Duration kTypical = 8us;

class LatePathTest : public PathSetTest {
 protected:
  /// Each of four EVs has `packets` in flight, one per microsecond, and all have answered before.
  PathSet loaded(std::span<const Path> t, int packets, const PathSettings& settings = {}) {
    PathSet p(t, settings, 1, quiet);
    for (std::uint16_t s = 0; s < 4; ++s) p.note_works(EvSlot(s));
    for (int i = 0; i < packets; ++i, now += 1us) {
      for (std::uint16_t s = 0; s < 4; ++s) p.note_sent(now, EvSlot(s));
    }
    return p;
  }
  /// How often each EV is chosen, nothing being sent.
  std::map<int, int> used(PathSet& p) {
    std::map<int, int> n;
    for (int i = 0; i < 40; ++i) ++n[p.choose(now, kAll, {}, PathSet::Heard{Ticks(now), kTypical})->value];
    return n;
  }
  /// The oldest packet of an EV is answered, having left so long ago.
  void answer(PathSet& p, std::uint16_t s, Duration age) {
    p.note_settled(now, EvSlot(s), Ticks(now - age), true, kTypical);
  }
  std::vector<Path> four = table(1, 4);
};

// MRC-EV-016
TEST_F(LatePathTest, AnEvWhoseAnswersAreLateIsPassedOverUntilItHasAnswered) {
  PathSet p = loaded(four, 3);
  now += 7us;  // the oldest are 10 us old, 8 are usual, 12 are late
  EXPECT_EQ(used(p).size(), 4u);
  for (std::uint16_t s = 0; s < 3; ++s) {
    for (int i = 0; i < 3; ++i) answer(p, s, 8us);
  }
  now += 3us;
  EXPECT_EQ(used(p).count(3), 0u);
  answer(p, 3, 13us);
  EXPECT_EQ(used(p).count(3), 0u) << "two more are in flight, and it is allowed one";
  answer(p, 3, 13us);
  answer(p, 3, 13us);
  EXPECT_EQ(used(p).count(3), 1u);
}

// MRC-EV-016
TEST_F(LatePathTest, ItCarriesOnePacketAtATimeAndMoreWithEachAnswerInTime) {
  PathSet p = loaded(four, 3);
  now += 10us;
  for (std::uint16_t s = 0; s < 3; ++s) {
    for (int i = 0; i < 3; ++i) answer(p, s, 8us);
  }
  used(p);  // finds it late
  for (int i = 0; i < 3; ++i) answer(p, 3, 13us);
  p.note_sent(now, EvSlot(3));
  EXPECT_EQ(used(p).count(3), 0u);
  for (int i = 0; i < 4; ++i) {
    answer(p, 3, 8us);
    p.note_sent(now, EvSlot(3));
  }
  EXPECT_EQ(used(p).count(3), 1u) << "four answers in time are a packet more";
  answer(p, 3, 13us);
  p.note_sent(now, EvSlot(3));
  EXPECT_EQ(used(p).count(3), 0u) << "one that is late begins anew";
}

// MRC-EV-016
TEST_F(LatePathTest, FewPacketsAreNoQueueAndTheRuleCanBeOff) {
  PathSet few = loaded(four, 2);
  PathSet off = loaded(four, 3, {.late_packets = 0});
  now += 100us;
  for (PathSet* p : {&few, &off}) {
    for (std::uint16_t s = 0; s < 3; ++s) {
      for (int i = 0; i < 3; ++i) answer(*p, s, 8us);
    }
    EXPECT_EQ(used(*p).size(), 4u);
  }
}

// MRC-EV-016
TEST_F(LatePathTest, WhenAllAreLateSomebodyCarries) {
  PathSet p = loaded(four, 5);
  now += 100us;
  EXPECT_FALSE(used(p).empty());
}

// MRC-EV-016
TEST_F(LatePathTest, AnEvThatReturnsBeginsWithOnePacket) {
  PathSet p = loaded(four, 3);
  p.note_bad(now, EvSlot(3), PathCause::loss);
  while (answer_probes(p) > 0) {
  }
  ASSERT_EQ(p.state(EvSlot(3)), EvState::good);
  for (std::uint16_t s = 0; s < 3; ++s) {
    for (int i = 0; i < 3; ++i) answer(p, s, 8us);
  }
  EXPECT_EQ(used(p).count(3), 1u) << "what it had in flight before is forgotten";
  p.note_sent(now, EvSlot(3));
  EXPECT_EQ(used(p).count(3), 0u);
}

// MRC-REQ-013
TEST_F(LatePathTest, ASuspectThatAnswersLateHasLongerToAnswerTheQuestion) {
  PathSet p = loaded(four, 3);
  ASSERT_TRUE(p.suspect(EvSlot(3), 10us));
  ASSERT_TRUE(p.poll_probe(now, kAll, TxOrder(50)));
  now += 9us;
  p.note_slow(now, EvSlot(3), 30us);
  p.note_slow(now, EvSlot(3), 20us);  // never less
  now += 20us;
  EXPECT_FALSE(p.poll_silent(now, Ticks(now)));
  now += 2us;
  const auto silent = p.poll_silent(now, Ticks(now));
  ASSERT_TRUE(silent);
  EXPECT_EQ(silent->slot, EvSlot(3));
}

TEST(PathClockTypical, AFewSlowPathsDoNotChangeItAndAllTogetherDo) {
  PathClock clock(4, 100us);
  for (int i = 0; i < 400; ++i) clock.note_age(i % 10 == 0 ? 80us : 8us);
  EXPECT_LT(clock.typical(), 10us);
  EXPECT_GT(clock.typical(), 7us);
  for (int i = 0; i < 200; ++i) clock.note_age(20us);
  EXPECT_EQ(clock.typical(), 20us);
}

}  // namespace
}  // namespace mrc::engine
