// Tables lead every carrier and every destination along its path; templates expand to the same carriers.
#include "topo/routes.h"

#include <gtest/gtest.h>

#include "topo/shapes_for_test.h"
#include "topo/template.h"

namespace mrc::topo {
namespace {

class EveryTable : public testing::TestWithParam<Spec> {
 protected:
  Topology topo = *Topology::make(GetParam());

  static std::optional<std::uint32_t> find(const std::vector<RouteRange>& ranges, std::uint32_t key) {
    for (const RouteRange& r : ranges) {
      if (key >= r.first && key - r.first < r.count) return r.port + (key - r.first) / r.per_port;
    }
    return std::nullopt;
  }
  template <class Visit>
  void for_each_path(Visit visit) {
    for (std::uint32_t s = 0; s < topo.hosts(); ++s) {
      for (std::uint32_t d = 0; d < topo.hosts(); ++d) {
        for (std::uint32_t i = 0; i < topo.evs(); ++i) visit(*topo.path(HostId(s), HostId(d), topo.ev_at(i)));
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Topology, EveryTable, testing::ValuesIn(small_shapes()));

TEST_P(EveryTable, UsidRoutesFollowThePath) {
  for_each_path([&](const Path& p) {
    const UsidList list = topo.usids(p);
    for (int i = 0; i < p.switch_count; ++i) {
      const auto port = find(usid_routes(topo, p.switches[i]), list.usids[i + 1].value);
      ASSERT_TRUE(port);
      EXPECT_EQ(topo.hop_from({p.switches[i], *port}), p.hops[i + 1]);
    }
  });
}

TEST_P(EveryTable, DestinationRoutesLeadDownAndEvFieldsUp) {
  for_each_path([&](const Path& p) {
    const std::uint32_t key = topo.t0_of(p.destination) << 16 | topo.downlink_of(p.destination);
    const std::uint32_t bits = *path_bits_of(topo.ev(p.choice));
    for (int i = 0; i < p.switch_count; ++i) {
      const Node sw = p.switches[i];
      const EvField field = uplink_field(topo, sw.tier);
      const std::uint32_t up = topo.downlinks(sw) + (bits >> field.shift & ((1u << field.bits) - 1));
      EXPECT_EQ(topo.hop_from({sw, find(destination_routes(topo, sw), key).value_or(up)}), p.hops[i + 1]);
    }
  });
}

TEST_P(EveryTable, RouteListsNameEachNeighbourOnce) {
  for (std::uint32_t i = 0; i < topo.switches(); ++i) {
    const Node sw = topo.switch_at(i);
    std::uint32_t wired = 0;
    for (std::uint32_t port = 0; port < topo.ports(sw); ++port) wired += topo.link_at({sw, port}).has_value();
    const auto list = usid_route_list(topo, sw);
    EXPECT_EQ(list.size(), wired);
    for (const Route& r : list) {
      const auto peer = topo.peer({sw, r.port});
      ASSERT_TRUE(peer);
      const bool host = peer->node.tier == Tier::host;
      EXPECT_EQ(r.prefix, host ? topo.sid(HostId(peer->node.index), sw.plane) : topo.sid(peer->node));
    }
  }
}

// MRC-FAB-005: the row's template and the profile's EV give the carrier of the path.
TEST_P(EveryTable, TemplatesExpandToTheCarrier) {
  for_each_path([&](const Path& p) {
    const Template t = row_template(topo, p.source, p.destination);
    EXPECT_EQ(t.fields.size(), 8u);
    EXPECT_LE(t.ev_bits(), 64);
    const std::uint64_t value = profile_value(topo, t, p.source, p.destination, p.choice);
    EXPECT_EQ(expand(t, value), topo.carriers(topo.usids(p)).addresses[0]);
  });
}

TEST(Templates, ARowIsTheSameForAllItsPaths) {
  const auto topo = *Topology::make(published());
  const Template t = row_template(topo, HostId(3), HostId(131071));
  EXPECT_EQ(t.ev_bits(), 3 + (3 + 8) + 3 + 3) << "plane bits in each uSID, the uplink in the T1's";
  for (const Choice c : {Choice{0, 0, 0}, Choice{7, 255, 0}, Choice{5, 170, 0}}) {
    const Path p = topo.path(HostId(3), HostId(131071), c);
    EXPECT_EQ(expand(t, profile_value(topo, t, HostId(3), HostId(131071), c)),
              topo.carriers(topo.usids(p)).addresses[0]);
  }
}

TEST(Routes, ThePublishedSwitchesNeedTwoRows) {
  const auto topo = *Topology::make(published());
  EXPECT_EQ(usid_routes(topo, switch_node(7, Tier::t0, 511)).size(), 2u);
  EXPECT_EQ(usid_routes(topo, switch_node(7, Tier::t1, 255)).size(), 1u);
}

}  // namespace
}  // namespace mrc::topo
