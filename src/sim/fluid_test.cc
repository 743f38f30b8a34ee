// Max-min fairness on fabrics small enough to do by hand.
#include "sim/fluid.h"

#include <gtest/gtest.h>

namespace mrc::sim {
namespace {

constexpr double kRate = 100e9;  // bits per second; a byte takes 80 ps

topo::Topology fabric(std::uint32_t t1, std::uint32_t planes = 1) {
  topo::Spec spec;
  spec.planes = planes, spec.tiers = 2, spec.pods = 1;
  spec.t0 = 2, spec.t1 = t1, spec.hosts_per_t0 = 4;
  spec.host_link = spec.t0_t1 = {100'000'000'000, 500ns};
  return *topo::Topology::make(spec);
}

std::vector<Ps> took(
    const topo::Topology& topo, std::vector<FluidFlow> flows,
    std::function<double(topo::Hop)> rate = [](topo::Hop) { return kRate; }) {
  return fluid(topo, rate, flows).took;
}

void expect_near(const std::vector<Ps>& got, const std::vector<double>& us) {
  ASSERT_EQ(got.size(), us.size());
  for (std::size_t i = 0; i < us.size(); ++i) EXPECT_NEAR(microseconds(got[i]), us[i], 0.001) << i;
}

TEST(Fluid, AloneItHasTheWholePort) {
  expect_near(took(fabric(4), {{0, 1, 1e6, 0}}), {80});
  expect_near(took(fabric(4, 2), {{0, 5, 1e6, 0}}), {40});
}

TEST(Fluid, AnIncastSharesTheReceiver) {
  expect_near(took(fabric(4), {{1, 0, 1e6, 0}, {2, 0, 1e6, 0}, {4, 0, 1e6, 0}}), {240, 240, 240});
}

// Two flows share a receiver, one of them shares its sender too: what the slow ones leave, the third takes.
TEST(Fluid, WhatABottleneckLeavesGoesToOthers) {
  // 0->2, 0->3 share port 0; 1->3 shares port 3 with 0->3: all get 1/2; then 0->2 and 1->3 have ports alone.
  expect_near(took(fabric(4), {{0, 2, 2e6, 0}, {0, 3, 1e6, 0}, {1, 3, 2e6, 0}}), {240, 160, 240});
}

TEST(Fluid, AnEndAndAStartChangeTheRates) {
  // The second starts halfway through the first: 40 us alone, then half each.
  expect_near(took(fabric(4), {{1, 0, 1e6, 0}, {2, 0, 1e6, 40'000'000}}), {120, 120});
}

TEST(Fluid, ThinUplinksBound) {
  // Four hosts, two uplinks: half of the ports' rate each.
  expect_near(took(fabric(2), {{0, 4, 1e6, 0}, {1, 5, 1e6, 0}, {2, 6, 1e6, 0}, {3, 7, 1e6, 0}}),
              {160, 160, 160, 160});
}

TEST(Fluid, DeadAndSlowLinksCount) {
  const topo::Topology topo = fabric(4);
  const auto slow = [&](topo::Hop hop) {
    return topo.kind(hop.link) == topo::LinkKind::t0_t1 ? kRate / 4 : kRate;
  };
  expect_near(took(topo, {{0, 4, 1e6, 0}, {1, 5, 1e6, 0}}, slow), {160, 160});
  const auto dead = [&](topo::Hop hop) {
    return hop.link == topo.host_link(topo::HostId(4), 0) ? 0.0 : kRate;
  };
  EXPECT_EQ(took(topo, {{0, 4, 1e6, 0}}, dead)[0], kNeverPs);
}

TEST(Fluid, ALimitOfWorkIsSaidNotHidden) {
  const std::vector<FluidFlow> flows{{1, 0, 1e6, 0}, {2, 0, 2e6, 0}, {3, 0, 3e6, 0}};
  EXPECT_FALSE(fluid(
                   fabric(4), [](topo::Hop) { return kRate; }, flows, 1)
                   .exact);
}

}  // namespace
}  // namespace mrc::sim
