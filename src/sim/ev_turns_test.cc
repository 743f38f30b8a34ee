#include "sim/ev_turns.h"

#include <gtest/gtest.h>

namespace mrc::sim {
namespace {

using Turns = std::vector<std::uint8_t>;

class EvTurnsTest : public ::testing::Test {
 protected:
  Turns turns(std::vector<Fault> faults, std::uint32_t t0 = 0, std::uint32_t most = 128) {
    const auto strokes = plan_faults(topo, faults);
    EXPECT_TRUE(strokes) << strokes.error().what;
    return ev_turns(topo, *strokes, t0, most);
  }
  static Fault slow(const char* target, double amount, Ps at = 0) {
    return {.kind = FaultKind::slow, .target = target, .at = at, .amount = amount};
  }
  const topo::Topology topo = *topo::Topology::make({.planes = 1, .t0 = 4, .t1 = 4, .hosts_per_t0 = 4});
};

TEST_F(EvTurnsTest, AQuarterOfTheSpeedIsAQuarterOfTheTurns) {
  EXPECT_EQ(turns({slow("p0.t1.1", 0.25)}), (Turns{4, 1, 4, 4}));
  EXPECT_EQ(turns({slow("p0.t1.1", 0.25), slow("p0.t1.2", 0.5)}), (Turns{4, 1, 2, 4}));
}

TEST_F(EvTurnsTest, WhereAllAreAlikeEachHasOne) {
  EXPECT_EQ(turns({}), (Turns{1, 1, 1, 1}));
  EXPECT_EQ(turns({slow("p0", 0.25)}), (Turns{1, 1, 1, 1}));
}

TEST_F(EvTurnsTest, WhatHappensLaterIsNotKnown) {
  EXPECT_EQ(turns({slow("p0.t1.1", 0.25, 1000)}), (Turns{1, 1, 1, 1}));
}

TEST_F(EvTurnsTest, ADeadPathHasNone) {
  EXPECT_EQ(turns({{.kind = FaultKind::down, .target = "p0.t1.3"}}), (Turns{1, 1, 1, 0}));
}

TEST_F(EvTurnsTest, WithoutRoomForCopiesTheyAreFewerOrNone) {
  EXPECT_EQ(turns({slow("p0.t1.1", 0.25)}, 0, 13), (Turns{4, 1, 4, 4}));
  EXPECT_EQ(turns({slow("p0.t1.1", 0.25)}, 0, 12), (Turns{2, 1, 2, 2}));
  EXPECT_EQ(turns({slow("p0.t1.1", 0.25)}, 0, 4), (Turns{1, 1, 1, 1}));
}

// Its own hosts send all they have by it, the others a third of theirs.
TEST_F(EvTurnsTest, ASlowCableCountsMostUnderItsOwnT0) {
  EXPECT_EQ(turns({slow("p0.t0.0-p0.t1.1", 0.25)}, 0), (Turns{4, 1, 4, 4}));
  EXPECT_EQ(turns({slow("p0.t0.0-p0.t1.1", 0.25)}, 1), (Turns{4, 3, 4, 4}));
}

}  // namespace
}  // namespace mrc::sim
