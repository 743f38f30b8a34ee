// The real NIC and engine on the real switches, small and whole.
#include "sim/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cm_workload.h"
#include "sim/job.h"
#include "sim/pattern.h"

namespace mrc::sim {
namespace {

topo::Topology small_fabric(std::uint32_t planes = 1, std::uint32_t tiers = 2) {
  topo::Spec spec;
  spec.planes = planes;
  spec.tiers = tiers;
  spec.pods = tiers == 3 ? 2 : 1;
  spec.t0 = 4, spec.t1 = 4, spec.t2 = tiers == 3 ? 4 : 0, spec.hosts_per_t0 = 4;
  spec.host_link = spec.t0_t1 = spec.t1_t2 = {400'000'000'000, 1000ns};
  auto topology = topo::Topology::make(spec);
  EXPECT_TRUE(topology) << topology.error().what;
  return *topology;
}

Job job_on(const topo::Topology& topo, Pattern pattern) {
  pattern.ranks = topo.hosts();
  Placement placement;
  for (Host h = 0; h < topo.hosts(); ++h) placement.host_of.push_back(h);
  return Job(0, std::move(*make_program(pattern)), placement, topo.hosts());
}

TEST(Carriage, RoutesAreWhatTheTopologySays) {
  for (const topo::Topology& topo : {small_fabric(2), small_fabric(2, 3)}) {
    for (std::uint32_t a = 0; a < topo.hosts(); ++a) {
      for (std::uint32_t e = 0; e < topo.evs(); ++e) {
        const topo::HostId from(a), to((a * 7 + e + 1) % topo.hosts());
        if (from == to) continue;
        fabric::Frame frame;
        write_route(topo, from, to, *topo.choice(topo.ev_at(e)), frame);
        const topo::UsidList list = topo.usids(*topo.path(from, to, topo.ev_at(e)));
        for (std::size_t i = 0; i < list.count; ++i) ASSERT_EQ(frame.usids[i], list.usids[i].value);
        ASSERT_TRUE(list.count == frame.usids.size() || frame.usids[list.count] == 0);
      }
    }
  }
}

TEST(World, APermutationEndsNearItsIdeal) {
  for (const std::uint32_t planes : {1u, 4u}) {
    const topo::Topology topo = small_fabric(planes);
    Job job = job_on(topo, {.kind = PatternKind::permutation, .bytes = 1'000'000});
    World world(topo, {}, job);
    world.run();
    EXPECT_EQ(job.unfinished(), "");
    EXPECT_EQ(world.total().failed, 0);
    EXPECT_EQ(world.total().delivered, 16u * 1'000'000u);
    const auto flows = world.flows();
    ASSERT_EQ(flows.size(), 16u);
    for (const Flow& f : flows) {
      const Ps alone = world.plan().alone(f.source, f.destination, f.bytes);
      EXPECT_GE(f.received - f.start, alone) << f.source << " to " << f.destination;
      EXPECT_LE(f.received - f.start, 2 * alone);
      EXPECT_GT(f.acknowledged, f.received);
    }
  }
}

TEST(World, AloneAFlowTakesItsIdeal) {
  const topo::Topology topo = small_fabric();
  for (const char* text :
       {"Nodes 16\n0->1 id 1 start 0 size 100000\n", "Nodes 16\n0->5 id 1 start 7000 size 1\n",
        "Nodes 16\n0->5 id 1 start 0 size 4097\n"}) {
    CmWorkload load(*parse_cm(text, "t"));
    World world(topo, {}, load);
    world.run();
    const auto flows = world.flows();
    ASSERT_EQ(flows.size(), 1u);
    const Ps took = flows[0].received - flows[0].start,
             ideal = world.plan().alone(0, flows[0].destination, flows[0].bytes);
    EXPECT_GE(took, ideal) << text;
    EXPECT_LE(took, ideal + serialisation(4300, 400'000'000'000)) << text;
  }
}

struct Outcome {
  std::vector<std::pair<Ps, Ps>> flows;
  std::uint64_t packets;
  bool operator==(const Outcome&) const = default;
};

Outcome outcome_on(unsigned threads, std::uint64_t seed) {
  const topo::Topology topo = small_fabric(2);
  Job job = job_on(topo, {.kind = PatternKind::all_to_all, .bytes = 800'000});
  WorldSettings settings;
  settings.threads = threads;
  settings.hosts.seed = seed;
  settings.strokes = *plan_faults(
      topo, {{.kind = FaultKind::lossy, .target = "p0.t0.1-p0.t1.2", .amount = 0.05},
             {.kind = FaultKind::down, .target = "p1.t1.3", .at = 5'000'000, .until = 9'000'000}});
  World world(topo, settings, job);
  world.run();
  EXPECT_EQ(job.unfinished(), "");
  EXPECT_GT(world.total().repairs, 0u);
  Outcome out{{}, world.total().packets};
  for (const Flow& f : world.flows()) out.flows.emplace_back(f.received, f.acknowledged);
  return out;
}

TEST(World, OneResultOnAnyNumberOfThreads) {
  const Outcome one = outcome_on(1, 5);
  EXPECT_EQ(outcome_on(2, 5), one);
  EXPECT_EQ(outcome_on(3, 5), one);
  EXPECT_NE(outcome_on(1, 6), one);
}

TEST(World, IncastTrimsAndLosesNothing) {
  const topo::Topology topo = small_fabric();
  Job job = job_on(topo, {.kind = PatternKind::incast, .bytes = 1'000'000});
  World world(topo, {}, job);
  world.run();
  EXPECT_EQ(job.unfinished(), "");
  const auto& last_hop = world.link({topo.host_link(topo::HostId(0), 0), topo::Direction::down});
  EXPECT_GT(last_hop.counters().trims, 0u);
  EXPECT_EQ(last_hop.counters().drops, 0u);
  EXPECT_EQ(last_hop.counters().marks, 0u);
}

TEST(World, EndsWhenTheLastMessageIsAcknowledged) {
  const topo::Topology topo = small_fabric();
  CmWorkload load(*parse_cm(
      "Nodes 16\n1->0 id 1 start 0 size 5000\n2->0 id 2 start 50000000 size 1\n3->0 id 3 start 0 size 9\n",
      "t"));
  World world(topo, {}, load);
  world.run();
  EXPECT_EQ(load.unfinished(), "");
  EXPECT_GE(world.now(), 50'000'000);
  EXPECT_LE(world.now(), 70'000'000);
}

TEST(World, ALostNicPortCostsItsPlaneOnly) {
  const topo::Topology topo = small_fabric(4);
  Job job = job_on(topo, {.kind = PatternKind::permutation, .bytes = 4'000'000});
  WorldSettings settings;
  settings.strokes =
      *plan_faults(topo, {{.target = "h3.p2", .at = 10'000'000},
                          {.kind = FaultKind::black_hole, .target = "h5.p1", .at = 12'000'000}});
  World world(topo, settings, job);
  world.run();
  EXPECT_EQ(job.unfinished(), "");
  EXPECT_EQ(world.total().failed, 0);
}

}  // namespace
}  // namespace mrc::sim
