// The published comparison comes out, and small fabrics add up by hand.
#include "topo/summary.h"

#include <gtest/gtest.h>

#include "topo/shapes_for_test.h"

namespace mrc::topo {
namespace {

// MRC-FAB-006: 51.2 Tb/s switches, 800 Gb/s NICs: the published figures.
TEST(Compare, ThePublishedFiguresComeOut) {
  const Spec planes = full_two_tiers(64, 8, 800'000'000'000), single = full_three_tiers(64, 800'000'000'000);
  const Summary a = summarize(*Topology::make(planes)), b = summarize(*Topology::make(single));
  EXPECT_EQ(a.hosts, 131072u);
  EXPECT_EQ(a.radix, 512u);
  EXPECT_EQ(a.longest_path, 3u);
  EXPECT_EQ(a.hosts_one_switch_away, 256u);
  EXPECT_EQ(b.radix, 64u);
  EXPECT_EQ(b.hosts, 65536u);
  EXPECT_NEAR((a.optics / a.hosts) / (b.optics / b.hosts), 2.0 / 3, 1e-9);
  EXPECT_NEAR((1.0 * a.switches / a.hosts) / (1.0 * b.switches / b.hosts), 3.0 / 5, 1e-9);
  EXPECT_NEAR(a.lost_t0_t1_link, 0.004, 0.0001);
  EXPECT_NEAR(b.lost_t0_t1_link, 0.03, 0.002);
  EXPECT_EQ(a.lost_nic_port, 1.0 / 8);
  EXPECT_EQ(b.lost_nic_port, 1.0);
  EXPECT_EQ(a.nic_bits_per_second, b.nic_bits_per_second);
  const auto rows = compare(a, b);
  EXPECT_EQ(rows[2].a, "131072");
  EXPECT_EQ(rows[9].a, "0.391 %");
  EXPECT_EQ(rows[9].b, "3.12 %");
}

TEST(Summary, ASmallFabricAddsUp) {
  Spec spec = two_tiers();  // 4 planes, 3 T0 of 2 hosts, 5 T1
  spec.switch_delay = Duration(100);
  const Summary s = summarize(*Topology::make(spec));
  EXPECT_EQ(s.hosts, 6u);
  EXPECT_EQ(s.switches, 4u * (3 + 5));
  EXPECT_EQ(s.links, 4u * (6 + 15));
  EXPECT_DOUBLE_EQ(s.optics, 2.0 * (6 + 15)) << "four planes make one NIC";
  EXPECT_EQ(s.ways, 20u);
  EXPECT_EQ(s.nic_bits_per_second, 400'000'000'000u);
  EXPECT_EQ(s.bisection_bits_per_second, 4u * 3 * 100'000'000'000) << "half the hosts are the limit";
  EXPECT_DOUBLE_EQ(s.oversubscription, 2.0 / 5);
  EXPECT_EQ(s.base_rtt, 2 * (4 * Duration(500) + 3 * Duration(100)));
}

TEST(Summary, TheNarrowestTierCounts) {
  Spec spec{.planes = 1, .tiers = 3, .pods = 4, .t0 = 4, .t1 = 4, .t2 = 2, .hosts_per_t0 = 4};
  const Summary pods = summarize(*Topology::make(spec));
  EXPECT_DOUBLE_EQ(pods.oversubscription, 2) << "4 down and 2 up at each T1";
  spec.pods = 1;
  const Summary one = summarize(*Topology::make(spec));
  EXPECT_DOUBLE_EQ(one.oversubscription, 1) << "nothing crosses T2s";
  EXPECT_EQ(one.bisection_bits_per_second, 8 * spec.host_link.bits_per_second);
  EXPECT_LT(one.base_rtt, pods.base_rtt);
}

TEST(Summary, OneTierHasNothingAbove) {
  const Summary s = summarize(*Topology::make(one_tier()));
  EXPECT_EQ(s.longest_path, 1u);
  EXPECT_EQ(s.lost_t0_t1_link, 0);
  EXPECT_EQ(s.ways, 2u);
}

}  // namespace
}  // namespace mrc::topo
