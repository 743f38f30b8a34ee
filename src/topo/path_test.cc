// EV <-> path <-> hops <-> carrier, both ways, for all pairs of every small fabric.
#include <gtest/gtest.h>

#include <set>

#include "topo/shapes_for_test.h"
#include "topo/topo.h"

namespace mrc::topo {
namespace {

class EveryPath : public testing::TestWithParam<Spec> {
 protected:
  Topology topo = *Topology::make(GetParam());

  template <class Visit>
  void for_each_pair(Visit visit) {
    for (std::uint32_t s = 0; s < topo.hosts(); ++s) {
      for (std::uint32_t d = 0; d < topo.hosts(); ++d) visit(HostId(s), HostId(d));
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Topology, EveryPath, testing::ValuesIn(small_shapes()));

TEST_P(EveryPath, EvsNumberChoices) {
  std::set<std::uint32_t> seen;
  for (std::uint32_t i = 0; i < topo.evs(); ++i) {
    const Ev ev = topo.ev_at(i);
    const auto c = topo.choice(ev);
    ASSERT_TRUE(c);
    EXPECT_EQ(topo.ev(*c), ev);
    EXPECT_GE(ev.value & 0xFFFF, 0xC000u) << "the source port stays in the dynamic range";
    EXPECT_TRUE(seen.insert(ev.value).second);
  }
}

// MRC-FAB-002: EV, path and links lead to each other. MRC-FAB-004: all in one plane.
TEST_P(EveryPath, HopsJoinUpAndLeadBackToThePath) {
  for_each_pair([&](HostId s, HostId d) {
    for (std::uint32_t i = 0; i < topo.evs(); ++i) {
      const auto p = topo.path(s, d, topo.ev_at(i));
      ASSERT_TRUE(p);
      EXPECT_EQ(topo.sender(p->hops[0]).node, host_node(s));
      EXPECT_EQ(topo.receiver(p->hops[p->hop_count() - 1]).node, host_node(d));
      for (int h = 0; h < p->switch_count; ++h) {
        EXPECT_EQ(topo.receiver(p->hops[h]).node, p->switches[h]);
        EXPECT_EQ(topo.sender(p->hops[h + 1]).node, p->switches[h]);
        EXPECT_EQ(p->switches[h].plane, p->choice.plane) << "planes share no switch";
      }
      EXPECT_EQ(topo.path_of(std::span(p->hops).first(p->hop_count())), *p);
    }
  });
}

TEST_P(EveryPath, WaysPerPlaneCountsDifferentPaths) {
  for_each_pair([&](HostId s, HostId d) {
    std::set<std::array<Hop, kMaxHops>> ways;
    for (std::uint32_t i = 0; i < topo.evs_per_plane(); ++i)
      ways.insert(topo.path(s, d, topo.ev_at(i))->hops);
    EXPECT_EQ(ways.size(), topo.ways_per_plane(s, d));
  });
}

// MRC-FAB-001: uSIDs by structure; the carrier leads along the path and nowhere else.
TEST_P(EveryPath, CarriersLeadAlongTheirPath) {
  for_each_pair([&](HostId s, HostId d) {
    for (std::uint32_t i = 0; i < topo.evs(); ++i) {
      const auto p = topo.path(s, d, topo.ev_at(i));
      const Carriers c = topo.carriers(topo.usids(*p));
      ASSERT_EQ(c.count, 1);
      EXPECT_EQ(topo.path_of(s, c.addresses[0]), *p);
    }
  });
}

// MRC-FAB-003: a fault hits exactly the EVs whose path crosses it.
TEST_P(EveryPath, TouchedEvsAreThoseWhosePathCrosses) {
  for_each_pair([&](HostId s, HostId d) {
    for (std::uint32_t i = 0; i < topo.evs(); ++i) {
      const Choice c = *topo.choice(topo.ev_at(i));
      const Path p = topo.path(s, d, c);
      std::set<LinkId> links;
      for (int h = 0; h < p.hop_count(); ++h) links.insert(p.hops[h].link);
      const std::set<Node> switches(p.switches.begin(), p.switches.begin() + p.switch_count);
      for (std::uint32_t l = 0; l < topo.links(); ++l) {
        EXPECT_EQ(topo.evs_through(LinkId(l), s, d).contains(c), links.contains(LinkId(l)))
            << topo.name(LinkId(l));
        EXPECT_TRUE(!links.contains(LinkId(l)) || topo.evs_through(LinkId(l)).contains(c));
      }
      for (std::uint32_t n = 0; n < topo.switches(); ++n) {
        const Node sw = topo.switch_at(n);
        EXPECT_EQ(topo.evs_through(sw, s, d).contains(c), switches.contains(sw)) << topo.name(sw);
        EXPECT_TRUE(!switches.contains(sw) || topo.evs_through(sw).contains(c));
      }
    }
  });
}

TEST_P(EveryPath, RoundTripsComeBack) {
  for (std::uint32_t tier = 1; tier <= topo.tiers(); ++tier) {
    const UsidList list = topo.round_trip(HostId(1), static_cast<Tier>(tier), {1, 0, 0});
    EXPECT_EQ(list.count, 2 * tier);
    EXPECT_EQ(topo.switch_named(list.usids[tier - 1])->tier, static_cast<Tier>(tier));
    EXPECT_EQ(list.usids[list.count - 1], topo.usid(HostId(1), 1));
    EXPECT_EQ(topo.carriers(list).count, 1);
  }
}

TEST(Paths, UsidsAreDistinctAndNeverZero) {
  const auto topo = *Topology::make(published());
  std::set<std::uint16_t> seen;
  for (std::uint32_t i = 0; i < topo.switches(); ++i) {
    const Usid u = topo.usid(topo.switch_at(i));
    EXPECT_NE(u.value, 0);
    EXPECT_TRUE(seen.insert(u.value).second);
    EXPECT_EQ(topo.switch_named(u), topo.switch_at(i));
  }
  for (Plane p = 0; p < 8; ++p) {
    for (std::uint32_t h = 0; h < 256; ++h) EXPECT_TRUE(seen.insert(topo.usid(HostId(h), p).value).second);
  }
}

TEST(Paths, ForeignEvsAreNoPath) {
  const auto topo =
      *Topology::make(two_tiers());  // 5 T1s: uplink values 5, 6, 7 fit the bits and name nothing
  for (const std::uint32_t v : {0u, 1u, 0x4000u, 0xC005u, 0xC020u, 0x1C000u, 0xFFFFFFFFu}) {
    EXPECT_FALSE(topo.choice(Ev(v))) << v;
  }
}

TEST(Paths, WideFabricsSpillIntoTheFlowLabel) {
  const auto topo = *Topology::make(
      {.planes = 8, .tiers = 3, .pods = 2, .t0 = 64, .t1 = 64, .t2 = 16, .hosts_per_t0 = 4});  // 3 + 6 + 4
                                                                                               // bits
  EXPECT_EQ(topo.path_bits(), 13);
  const auto wide =
      *Topology::make({.planes = 4, .tiers = 3, .pods = 4, .t0 = 64, .t1 = 64, .t2 = 32, .hosts_per_t0 = 4});
  EXPECT_EQ(topo.ev({7, 63, 15}).value, 0xC000u | 0x1FFF);
  EXPECT_EQ(wide.path_bits(), 13);
  EXPECT_EQ(ev_of_path_bits(0x3FFFFFFF).value, 0xFFFFFFFFu);
  EXPECT_EQ(path_bits_of(ev_of_path_bits(0x12345)), 0x12345u);
}

TEST(Paths, ALongLocatorNeedsASecondCarrier) {
  Spec spec = three_tiers();
  spec.locator = *parse_ipv6_prefix("fcbb:bb00:1::/48");
  const auto topo = *Topology::make(spec);
  const Path p = topo.path(HostId(0), HostId(10), Choice{2, 1, 1});
  const Carriers c = topo.carriers(topo.usids(p));
  EXPECT_EQ(c.count, 2);
  EXPECT_EQ(c.addresses[1].group(3), topo.usid(HostId(10), 2).value);
  EXPECT_EQ(c.addresses[1].group(4), 0);
}

TEST(Paths, CarriersThatLeadNowhereAreRefused) {
  const auto topo = *Topology::make(two_tiers());
  const Path p = topo.path(HostId(0), HostId(5), Choice{1, 2, 0});
  const Ipv6 good = topo.carriers(topo.usids(p)).addresses[0];
  ASSERT_TRUE(topo.path_of(HostId(0), good));
  EXPECT_FALSE(topo.path_of(HostId(2), good)) << "starts at another T0";
  for (int group = 0; group < 8; ++group) {
    Ipv6 bad = good;
    bad.set_group(group, static_cast<std::uint16_t>(bad.group(group) ^ 0x1000));
    EXPECT_FALSE(topo.path_of(HostId(0), bad)) << to_string(bad);
  }
}

TEST(Paths, HopsThatAreNoPathAreRefused) {
  const auto topo = *Topology::make(two_tiers());
  const Path p = topo.path(HostId(0), HostId(5), Choice{1, 2, 0});
  std::array<Hop, 4> hops{p.hops[0], p.hops[1], p.hops[2], p.hops[3]};
  ASSERT_TRUE(topo.path_of(hops));
  EXPECT_FALSE(topo.path_of(std::span(hops).first(3)));
  EXPECT_FALSE(topo.path_of(std::span(hops).first(0)));
  std::swap(hops[1], hops[2]);
  EXPECT_FALSE(topo.path_of(hops));
  std::swap(hops[1], hops[2]);
  hops[2].link = LinkId(topo.links());
  EXPECT_FALSE(topo.path_of(hops));
}

}  // namespace
}  // namespace mrc::topo
