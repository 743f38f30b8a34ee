// A path that stands in the table several times: a controller's way to give it more turns.
#include "engine/path_set_testing.h"

namespace mrc::engine {
namespace {

class PathCopiesTest : public PathSetTest {
 protected:
  /// EV 1 four times, EVs 2 and 3 once: slots 0, 4 and 5.
  static std::vector<Path> weighted() {
    std::vector<Path> t(4, {Ev(1), PortId(1)});
    t.push_back({Ev(2), PortId(1)});
    t.push_back({Ev(3), PortId(1)});
    return t;
  }
  const std::vector<Path> t = weighted();
  const std::map<int, int> all = {{0, 40}, {4, 10}, {5, 10}};
};

// MRC-EV-020
TEST_F(PathCopiesTest, AreTurnsOfOnePath) {
  PathSet p(t, {}, 1, quiet);
  EXPECT_EQ(deal(p, 60), all);
  EXPECT_EQ(p.find(Ev(1)), EvSlot(0));
}

// MRC-EV-020
TEST_F(PathCopiesTest, TurnsOfAPathAreSpreadOverTheRound) {
  std::vector<Path> two(8, {Ev(1), PortId(1)});
  two.insert(two.end(), 8, {Ev(2), PortId(1)});
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    PathSet p(two, {.reshuffle_reach = 1}, seed, quiet);
    for (int i = 0; i < 8; ++i)
      EXPECT_EQ(deal(p, 2), (std::map<int, int>{{0, 1}, {8, 1}})) << "seed " << seed;
  }
}

// MRC-EV-020: what happens to a path happens to all its turns.
TEST_F(PathCopiesTest, GoAndReturnTogether) {
  PathSet p(t, {}, 1, quiet);
  p.note_bad(now, EvSlot(0), PathCause::loss);
  EXPECT_EQ(deal(p, 20), (std::map<int, int>{{4, 10}, {5, 10}}));
  EXPECT_EQ(p.rotation().active(), 2);
  ASSERT_TRUE(p.set_state(now, EvSlot(0), EvState::good));
  EXPECT_EQ(p.rotation().active(), 6);
  deal(p, 4);  // the round under way
  EXPECT_EQ(deal(p, 60), all);
}

// MRC-EV-009: the controller denies every copy, and allows them again one by one.
TEST_F(PathCopiesTest, AreDeniedTogether) {
  PathSet p(t, {}, 1, quiet);
  for (std::uint16_t i = 0; i < 4; ++i) EXPECT_TRUE(p.set_state(now, EvSlot(i), EvState::denied));
  EXPECT_EQ(deal(p, 20).count(0), 0u);
  for (std::uint16_t i = 0; i < 4; ++i) EXPECT_TRUE(p.set_state(now, EvSlot(i), EvState::good));
  deal(p, 4);
  EXPECT_EQ(deal(p, 60), all);
  EXPECT_EQ(p.state(p.known_as(EvSlot(2))), EvState::good);
}

// MRC-EV-006: one path with four turns is one path.
TEST_F(PathCopiesTest, DoNotCountTowardTheLeastInUse) {
  PathSet p(t, {.min_active = 1}, 1, quiet);
  for (const std::uint16_t s : {4, 5, 0}) p.note_bad(now, EvSlot(s), PathCause::loss);
  EXPECT_EQ(p.state(EvSlot(0)), EvState::good);
  EXPECT_EQ(deal(p, 10), (std::map<int, int>{{0, 10}}));
}

// MRC-EV-003: a mark costs its path one turn, not four.
TEST_F(PathCopiesTest, AMarkSkipsOneTurn) {
  PathSet p(t, {}, 1, quiet);
  p.note_skip(now, EvSlot(0), PathCause::ecn);
  EXPECT_EQ(deal(p, 5)[0], 3);
}

}  // namespace
}  // namespace mrc::engine
