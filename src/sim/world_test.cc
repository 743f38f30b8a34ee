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

TEST(World, AMessageBeginsWhenItsPairIsSetUp) {
  const topo::Topology topo = small_fabric();
  CmWorkload load(
      *parse_cm("Nodes 16\n0->5 id 1 start 7000 size 100000\n0->5 id 2 start 900000000 size 1\n", "t"));
  WorldSettings settings;
  settings.hosts.connect_time = 200'000'000;
  settings.hosts.paths.ask_ahead = 2;
  World world(topo, settings, load);
  world.run();
  const auto flows = world.flows();
  ASSERT_EQ(flows.size(), 2u);
  EXPECT_EQ(flows[0].start, 200'007'000);
  EXPECT_EQ(flows[1].start, 900'000'000);
  const Ps alone = world.plan().alone(0, 5, 100'000);
  EXPECT_LE(flows[0].received - flows[0].start, alone + alone / 20);
  // 4 paths were asked from each end, and whether there is anybody.
  EXPECT_GE(world.total().packets - world.total().data_packets, 2u * 2 * 5);
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

TEST(World, APortThatIsFreeAsAWindowBeginsIsUsedThen) {
  topo::Spec spec;
  spec.planes = spec.t0 = spec.t1 = 1, spec.hosts_per_t0 = 4;
  spec.host_link = spec.t0_t1 = {8'000'000'000, 998ns};  // a frame of 998 bytes takes as long as a window
  const topo::Topology topo = *topo::Topology::make(spec);
  CmWorkload load(*parse_cm("Nodes 4\n0->1 start 0 size 828\n0->2 start 0 size 828\n", "f"));
  World world(topo, {}, load);
  world.run();
  const auto flows = world.flows();
  ASSERT_EQ(flows.size(), 2u);
  EXPECT_EQ(flows[1].received - flows[0].received, 998'000);
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

// Packets through the codec: every byte that a NIC sends is encoded, changed by switches, and decoded, and
// nothing may come out differently.
TEST(World, BytesOnTheWireGiveTheSameResultsAsValues) {
  for (const topo::Topology& topo : {small_fabric(2), small_fabric(1, 3)}) {
    std::string cm = "Nodes " + std::to_string(topo.hosts()) + "\n";
    for (int i = 1; i < 16; ++i)
      cm += std::to_string(i) + "->0 id " + std::to_string(i) + " start 0 size " +
            std::to_string(100'000 + i) + "\n";
    std::vector<Flow> flows[2];
    Tally totals[2];
    for (const bool wire : {false, true}) {
      CmWorkload load(*parse_cm(cm, "t"));
      WorldSettings settings;
      settings.hosts.wire = wire;
      settings.queues.data_bdp = 0.3;  // trims, marks
      settings.strokes = *plan_faults(topo, {{.kind = FaultKind::lossy,
                                              .target = topo.name(topo.host_link(topo::HostId(3), 0)),
                                              .amount = 0.05}});
      World world(topo, settings, load);
      world.run();
      EXPECT_EQ(load.unfinished(), "");
      flows[wire] = world.flows();
      totals[wire] = world.total();
    }
    EXPECT_GT(totals[0].repairs, 0u);
    EXPECT_EQ(totals[0].packets, totals[1].packets);
    ASSERT_EQ(flows[0].size(), flows[1].size());
    for (std::size_t i = 0; i < flows[0].size(); ++i) {
      EXPECT_EQ(flows[0][i].received, flows[1][i].received) << i;
      EXPECT_EQ(flows[0][i].acknowledged, flows[1][i].acknowledged) << i;
    }
  }
}

// A pair that has nothing to say gives its QPs up, and makes new ones when it speaks again.
TEST(World, IdlePairsRetireTheirQpsAndComeBack) {
  const topo::Topology topo = small_fabric();
  std::string cm = "Nodes 16\n";
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 16; ++i)
      cm += std::to_string(i) + "->" + std::to_string((i + 1 + round % 2 * 5) % 16) + " id " +
            std::to_string(round * 16 + i + 1) + " start " + std::to_string(round * 1'000'000'000ll) +
            " size 50000\n";
  }
  CmWorkload load(*parse_cm(cm, "t"));
  WorldSettings settings;
  settings.hosts.retire_after = 100'000'000;
  World world(topo, settings, load);
  std::size_t most = 0, least = 1000;
  world.run([&](const Progress& p) {
    std::size_t qps = 0;
    for (Host h = 0; h < 16; ++h) qps += dynamic_cast<HostNode&>(world.host(h)).nic().qp_count();
    most = std::max(most, qps);
    if (p.now > 500'000'000) least = std::min(least, qps);
    return true;
  });
  EXPECT_EQ(load.unfinished(), "");
  EXPECT_EQ(world.total().failed, 0);
  EXPECT_EQ(world.flows().size(), 48u);
  for (const Flow& f : world.flows()) EXPECT_NE(f.received, kNeverPs);
  EXPECT_EQ(most, 32u);  // both ends of one round's pairs
  EXPECT_EQ(least, 0u);
  std::size_t made = 0;
  for (Host h = 0; h < 16; ++h) made += world.host(h).qp_counts().size();
  EXPECT_EQ(made, 96u);
}

}  // namespace
}  // namespace mrc::sim
