// Faults drawn by seed: hundreds in the normal run, tens of thousands with MRC_LONG; and that they are seen.
#include "scenario/fault_storm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "scenario/document.h"

namespace mrc::scenario {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kSeeds = 500, kLongSeeds = 20'000;

// MRC-EV-008, MRC-EV-010: as long as one plane works, no QP fails, and none waits for its retry timer.
TEST(FaultStorm, NothingFailsOrStandsAsLongAsOnePlaneWorks) {
  const std::uint64_t last = std::getenv("MRC_LONG") != nullptr ? kLongSeeds : kSeeds;
  for (std::uint64_t seed = 1; seed <= last; ++seed)
    EXPECT_EQ(run_fault_storm(seed).broken, "") << "replay: mrc storm --fabric --seeds " << seed;
}

/// Worlds that once broke a promise.
TEST(FaultStorm, OldWoundsStayHealed) {
  for (const std::uint64_t seed : {
           10990, 12218,  // a plane was thought deaf, all answers left by a dead way, and nobody asked again
           35849,  // packets that arrived twice left the flight twice, and every trim halved an empty window
       }) {
    EXPECT_EQ(run_fault_storm(seed).broken, "") << "replay: mrc storm --fabric --seeds " << seed;
  }
}

TEST(FaultStorm, IsTheSameOnAnyNumberOfThreads) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    EXPECT_EQ(run_fault_storm(seed).trace, run_fault_storm(seed, {.threads = 3}).trace) << seed;
  EXPECT_NE(run_fault_storm(1).trace, run_fault_storm(2).trace);
}

TEST(FaultStorm, PlanesThatAllBreakAreSeen) {
  EXPECT_THAT(run_fault_storm(3, {.planted = true}).broken, HasSubstr("not done after 100000 us: "));
}

TEST(FaultStorm, ALateEndIsSeen) {
  std::size_t late = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    late +=
        run_fault_storm(seed, {.patience = 0}).broken.find("without the fault after") != std::string::npos;
  EXPECT_GT(late, 5u);
}

TEST(FaultStorm, DrawsAllThatItShould) {
  std::set<std::string> patterns, faults, targets;
  std::set<std::uint32_t> planes, t1, hosts;
  std::set<int> tails;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const auto document = Document::parse(fault_storm_scenario(seed), "storm");
    ASSERT_TRUE(document) << document.error().what;
    const auto s = document->scenario();
    ASSERT_TRUE(s) << s.error().what;
    planes.insert(s->topology.planes);
    t1.insert(s->topology.t1);
    hosts.insert(s->topology.hosts_per_t0);
    patterns.insert(std::string(sim::name(s->jobs[0].pattern.kind)));
    tails.insert(s->world.hosts.requestor.tail_eighths);
    faults.insert(std::to_string(static_cast<int>(s->faults[0].fault.kind)));
    std::string kind;  // of a target: "p.t0."
    for (const char c : s->faults[0].targets[0]) kind += c >= '0' && c <= '9' ? "" : std::string(1, c);
    targets.insert(kind + (s->faults[0].targets[0].find("t0") != std::string::npos ? "0" : ""));
  }
  EXPECT_EQ(planes, (std::set<std::uint32_t>{2, 3, 4}));
  EXPECT_EQ(t1, (std::set<std::uint32_t>{1, 2, 4}));
  EXPECT_EQ(hosts, (std::set<std::uint32_t>{1, 2, 4}));
  EXPECT_EQ(patterns.size(), 5u);
  EXPECT_EQ(faults.size(), 2u);
  EXPECT_EQ(targets, (std::set<std::string>{"p", "p.t.", "p.t.0", "h.p"}));
  EXPECT_EQ(tails, (std::set<int>{0, 16}));
}

}  // namespace
}  // namespace mrc::scenario
