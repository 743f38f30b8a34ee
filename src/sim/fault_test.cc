// Faults as strokes at links: what overlaps heals when the last of it is over.
#include "sim/fault.h"

#include <gtest/gtest.h>

#include <map>

namespace mrc::sim {
namespace {

using What = Stroke::What;

const topo::Topology kTopo =
    *topo::Topology::make({.planes = 2, .tiers = 2, .t0 = 2, .t1 = 2, .hosts_per_t0 = 2});
const topo::Hop kHop = *kTopo.find_hop("p0.t0.0>p0.t1.0");

/// The strokes at kHop.
std::vector<std::pair<Ps, What>> at_hop(const std::vector<Fault>& faults) {
  const auto strokes = plan_faults(kTopo, faults);
  EXPECT_TRUE(strokes) << strokes.error().what;
  std::vector<std::pair<Ps, What>> out;
  for (const Stroke& s : *strokes) {
    if (s.hop == kHop) out.emplace_back(s.when, s.what);
  }
  return out;
}

using Strokes = std::vector<std::pair<Ps, What>>;

TEST(Fault, AFlapDoesNotHealThePlaneThatIsDown) {
  EXPECT_EQ(at_hop({{.target = "p0", .at = 10},
                    {.target = "p0.t0.0-p0.t1.0", .at = 20, .until = 30, .every = 50, .times = 3}}),
            (Strokes{{10, What::down}}));
}

TEST(Fault, OverlappingOnesEndWithTheLast) {
  EXPECT_EQ(
      at_hop({{.target = "p0.t0.0", .at = 10, .until = 30}, {.target = "p0.t1.0", .at = 20, .until = 40}}),
      (Strokes{{10, What::down}, {40, What::up}}));
  EXPECT_EQ(
      at_hop({{.kind = FaultKind::black_hole, .target = "p0.t0.0", .at = 10, .until = 50},
              {.target = "p0.t1.0", .at = 20, .until = 40}}),
      (Strokes{
          {10, What::black_hole}, {20, What::down}, {40, What::up}, {40, What::black_hole}, {50, What::up}}));
}

TEST(Fault, LossesAddAndTheSlowestRateCounts) {
  const auto strokes = *plan_faults(
      kTopo, {{.kind = FaultKind::lossy, .target = "p0.t0.0>p0.t1.0", .at = 1, .until = 9, .amount = 0.5},
              {.kind = FaultKind::lossy, .target = "p0.t0.0>p0.t1.0", .at = 2, .until = 8, .amount = 0.5},
              {.kind = FaultKind::slow, .target = "p0.t0.0>p0.t1.0", .at = 3, .until = 7, .amount = 0.25},
              {.kind = FaultKind::slow, .target = "p0.t0.0>p0.t1.0", .at = 4, .until = 6, .amount = 0.75}});
  std::vector<double> amounts;
  for (const Stroke& s : strokes) amounts.push_back(s.amount);
  EXPECT_EQ(amounts, (std::vector{0.5, 0.75, 0.25, 1.0, 0.5, 0.0}));
}

TEST(Fault, ARandomFailureIsForGood) {
  FaultRates rates{.flaps_per_link_hour = 3600e4, .flap_length = 1000, .failures_per_link_hour = 3600e4};
  rates.over = kPsPerSecond / 100;
  const auto spells = random_spells(kTopo, rates);
  ASSERT_TRUE(spells);
  std::map<std::uint32_t, Ps> dead;  // since when
  for (const Spell& s : *spells) {
    if (s.until != kNeverPs) continue;
    Ps& since = dead.try_emplace(s.hop.index(), s.at).first->second;
    since = std::min(since, s.at);
  }
  for (const Stroke& s : strokes_of(*spells)) {
    if (s.what == What::up && dead.contains(s.hop.index())) {
      EXPECT_LT(s.when, dead[s.hop.index()]);
    }
  }
  EXPECT_GT(dead.size(), 10u);
}

TEST(Fault, TooManyAreRefusedBeforeTheyFillTheMemory) {
  EXPECT_FALSE(random_spells(kTopo, {.flaps_per_link_hour = 1e12, .flap_length = 1, .over = kPsPerSecond}));
  EXPECT_FALSE(
      plan_faults(kTopo, {{.target = "p0", .at = 10, .until = 11, .every = 10, .times = 1'000'000}}));
}

}  // namespace
}  // namespace mrc::sim
