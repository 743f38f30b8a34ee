// The RoCEv2 baseline: go-back-N alone, and the behaviour in a fabric that publications report.
#include <gtest/gtest.h>

#include "sim/cm_workload.h"
#include "sim/roce_qp.h"
#include "sim/summary.h"
#include "sim/world.h"

namespace mrc::sim {
namespace {

topo::Topology leaf_spine(std::uint32_t t0, std::uint32_t t1, std::uint32_t hosts) {
  topo::Spec spec;
  spec.planes = 1, spec.tiers = 2, spec.pods = 1;
  spec.t0 = t0, spec.t1 = t1, spec.hosts_per_t0 = hosts;
  spec.host_link = spec.t0_t1 = {400'000'000'000, 500ns};
  auto topology = topo::Topology::make(spec);
  EXPECT_TRUE(topology) << topology.error().what;
  return *topology;
}

struct Outcome {
  std::vector<Flow> flows;
  Summary summary;
};

Outcome run(const topo::Topology& topo, const std::string& cm, WorldSettings settings) {
  CmWorkload load(*parse_cm(cm, "t"));
  settings.hosts.transport = Transport::roce;
  World world(topo, settings, load);
  world.run();
  EXPECT_EQ(load.unfinished(), "");
  Outcome out;
  out.flows = world.flows();
  out.summary = summarise(world, out.flows, {});
  return out;
}

double gbps(const Flow& f) { return static_cast<double>(f.bytes) * 8e-9 / seconds(f.received - f.start); }

TEST(RoceQp, AHoleIsRefusedOnceAndEverythingFromThereIsSentAgain) {
  RoceSettings settings;
  settings.ack_every = 4;
  RoceSender sender(settings, 1000, 100e9);
  RoceReceiver receiver(settings);
  sender.post(0, {.bytes = 8000});
  std::vector<RocePacket> sent;
  Ps now = 0;
  for (; sender.has_work(); now = sender.ready_at()) sent.push_back(sender.send(now).packet);
  ASSERT_EQ(sent.size(), 8u);
  int naks = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (i == 2) continue;  // lost
    const auto verdict = receiver.on_data(now, sent[i], false);
    EXPECT_EQ(verdict.accepted, i < 2);
    naks += verdict.answer == RocePacket::Kind::nak;
  }
  EXPECT_EQ(naks, 1);
  sender.on_nak(now, receiver.expected());
  std::vector<std::uint32_t> again;
  while (sender.has_work()) {
    const auto s = sender.send(now += 1'000'000);
    EXPECT_TRUE(s.repair);
    again.push_back(s.packet.psn);
  }
  EXPECT_EQ(again, (std::vector<std::uint32_t>{2, 3, 4, 5, 6, 7}));
}

TEST(RoceQp, SilenceIsRetriedAndThenFails) {
  const RoceSettings settings;
  RoceSender sender(settings, 1000, 100e9);
  sender.post(0, {.bytes = 1000});
  for (int i = 0; i <= settings.retries; ++i) {
    ASSERT_FALSE(sender.failed());
    sender.send(sender.ready_at());
    sender.handle_timeout(sender.timeout_at());
  }
  EXPECT_TRUE(sender.failed());
  EXPECT_TRUE(sender.poll_lost());
}

TEST(RoceQp, NotificationsAreSpacedPerQp) {
  const RoceSettings settings;
  RoceReceiver receiver(settings);
  RocePacket p;
  int notified = 0;
  for (p.psn = 0; p.psn < 1000; ++p.psn) notified += receiver.on_data(p.psn * 100'000, p, true).notify;
  EXPECT_EQ(notified, 2);  // 100 us of marked packets, one notification per 50 us
}

TEST(RoceWorld, AloneAFlowRunsAtLineRate) {
  const auto out = run(leaf_spine(2, 2, 2), "Nodes 4\n0->3 id 1 start 0 size 10000000\n", {});
  EXPECT_GT(gbps(out.flows[0]), 380);
  EXPECT_EQ(out.summary.drops, 0u);
}

TEST(RoceWorld, AloneAPacketTakesItsIdeal) {
  const auto out = run(leaf_spine(2, 2, 2), "Nodes 4\n0->3 id 1 start 0 size 4096\n", {});
  EXPECT_DOUBLE_EQ(out.summary.completion_us.max, out.summary.ideal_us_max) << "with RoCEv2's own headers";
}

// Published: with one QP per pair, flows whose hashes meet on one uplink get half of it or less; more QPs
// even that out.
TEST(RoceWorld, HashesCollideAndMoreQpsHelp) {
  std::string cm = "Nodes 32\n";
  for (int i = 0; i < 16; ++i)
    cm += std::to_string(i) + "->" + std::to_string(16 + i) + " id " + std::to_string(i + 1) +
          " start 0 size 2000000\n";
  const topo::Topology topo = leaf_spine(2, 16, 16);
  WorldSettings settings;
  const auto one = run(topo, cm, settings);
  settings.hosts.roce.qps = 16;
  const auto many = run(topo, cm, settings);
  EXPECT_GT(one.summary.completion_us.max, 1.8 * one.summary.bound_us_max);
  EXPECT_LT(many.summary.completion_us.max, 0.8 * one.summary.completion_us.max);
}

// Published: PFC keeps an incast lossless, and punishes a victim that only shares the rack.
TEST(RoceWorld, PauseKeepsAnIncastLosslessAndHurtsAVictim) {
  std::string cm = "Nodes 32\n";
  for (int i = 0; i < 7; ++i)
    cm += std::to_string(i) + "->16 id " + std::to_string(i + 1) + " start 0 size 4000000\n";
  cm += "7->17 id 8 start 0 size 4000000\n";
  const topo::Topology topo = leaf_spine(2, 4, 16);
  WorldSettings settings;
  settings.hosts.roce.dcqcn = false;
  const auto paused = run(topo, cm, settings);
  EXPECT_EQ(paused.summary.drops, 0u);
  EXPECT_EQ(paused.summary.packets.repairs, 0u);
  EXPECT_LT(gbps(paused.flows.back()), 300);
  settings.hosts.roce.dcqcn = true;
  const auto controlled = run(topo, cm, settings);
  EXPECT_EQ(controlled.summary.drops, 0u);
}

// Published: without PFC, losses make go-back-N repeat what had arrived.
TEST(RoceWorld, WithoutPauseAnIncastLosesAndRepeats) {
  std::string cm = "Nodes 32\n";
  for (int i = 0; i < 15; ++i)
    cm += std::to_string(i) + "->16 id " + std::to_string(i + 1) + " start 0 size 2000000\n";
  WorldSettings settings;
  settings.hosts.roce.pfc = false;
  const auto out = run(leaf_spine(2, 16, 16), cm, settings);
  EXPECT_GT(out.summary.drops, 0u);
  EXPECT_GT(out.summary.packets.repairs, 15u * 489u);  // more than there was to send
}

TEST(RoceWorld, ThreadsDoNotChangeTheResult) {
  std::string cm = "Nodes 32\n";
  for (int i = 0; i < 16; ++i)
    cm += std::to_string(i) + "->" + std::to_string(16 + i / 3) + " id " + std::to_string(i + 1) +
          " start 0 size 500000\n";
  const topo::Topology topo = leaf_spine(2, 4, 16);
  WorldSettings settings;
  settings.hosts.roce.qps = 2;
  const auto one = run(topo, cm, settings);
  settings.threads = 3;
  const auto three = run(topo, cm, settings);
  for (std::size_t i = 0; i < one.flows.size(); ++i)
    EXPECT_EQ(one.flows[i].received, three.flows[i].received);
}

}  // namespace
}  // namespace mrc::sim
