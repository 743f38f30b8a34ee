// Configurations say what the topology says, in each language's own words.
#include "topo/emit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "topo/select.h"
#include "topo/shapes_for_test.h"

namespace mrc::topo {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class EveryConfig : public testing::TestWithParam<Spec> {
 protected:
  Topology topo = *Topology::make(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Emit, EveryConfig, testing::ValuesIn(small_shapes()));

/// Follows static routes from node to node, as packets by longest prefix would.
struct Walker {
  const Topology& topo;
  std::map<Node, NodeConfig> configs;

  const NodeConfig& config(Node n) { return configs.try_emplace(n, node_config(topo, n)).first->second; }

  std::optional<Node> step(Node at, const Ipv6& to, const std::vector<StaticRoute>& routes,
                           std::size_t choice) {
    const StaticRoute* best = nullptr;
    for (const StaticRoute& r : routes) {
      if (r.prefix.contains(to) && (best == nullptr || r.prefix.length > best->prefix.length)) best = &r;
    }
    if (best == nullptr) return std::nullopt;
    const NextHop& hop = best->next_hops[choice % best->next_hops.size()];
    for (const InterfaceConfig& i : config(at).interfaces) {
      if (i.name == hop.interface && i.peer_link_local == hop.via) return topo.find_node(i.peer);
    }
    return std::nullopt;
  }
};

TEST_P(EveryConfig, PlainRoutesReachEveryNicAddress) {
  Walker walker{topo, {}};
  for (std::uint32_t s = 0; s < topo.hosts(); ++s) {
    for (std::uint32_t d = 0; d < topo.hosts(); ++d) {
      for (Plane p = 0; s != d && p < topo.planes(); ++p) {
        Node at = host_node(HostId(s));
        for (int hops = 0; hops < kMaxHops && at != host_node(HostId(d)); ++hops) {
          const auto next =
              walker.step(at, topo.address(HostId(d), p), walker.config(at).plain_routes, s + d);
          ASSERT_TRUE(next) << topo.name(at);
          at = *next;
        }
        EXPECT_EQ(at, host_node(HostId(d)));
      }
    }
  }
}

TEST_P(EveryConfig, SidRoutesFollowEveryCarrier) {
  Walker walker{topo, {}};
  const HostId s(0), d(topo.hosts() - 1);
  for (std::uint32_t i = 0; i < topo.evs(); ++i) {
    const Path p = *topo.path(s, d, topo.ev_at(i));
    const UsidList list = topo.usids(p);
    Node at = host_node(s);
    for (int u = 0; u < list.count; ++u) {
      Ipv6 sid = topo.spec().locator.address;
      sid.set_group(2, list.usids[u].value);
      const auto next = walker.step(at, sid, walker.config(at).sid_routes, 0);
      ASSERT_TRUE(next);
      EXPECT_EQ(*next, u < p.switch_count ? p.switches[u] : host_node(d));
      at = *next;
      EXPECT_TRUE(std::any_of(walker.config(at).sids.begin(), walker.config(at).sids.end(),
                              [&](const LocalSid& l) { return l.prefix.contains(sid); }));
    }
  }
}

TEST(Emit, Iproute2InItsWords) {
  const auto topo = *Topology::make(two_tiers());
  const std::string t0 = emit_iproute2(node_config(topo, switch_node(1, Tier::t0, 2)));
  EXPECT_THAT(t0, HasSubstr("route add fcbb:bb00:5002::/48 encap seg6local action End flavors next-csid "
                            "lblen 32 nflen 16 dev d0\n"));
  EXPECT_THAT(t0, HasSubstr("route add fcbb:bb00:9004::/48 via fe80::301:0:4 dev u4\n"));
  EXPECT_THAT(t0, HasSubstr("route add fcbb:bb00:e801::/48 via fe80::100:0:5 dev d1\n"));
  EXPECT_THAT(t0, HasSubstr("forwarding=1"));
  const std::string host = emit_iproute2(node_config(topo, host_node(HostId(5))));
  EXPECT_THAT(host,
              HasSubstr("route add fcbb:bb00:e801::/48 encap seg6local action End.DT6 table 255 dev p1\n"));
  EXPECT_THAT(host, HasSubstr("address add fd4d:5243:1:2::2/128 dev p1 nodad\n"));
  EXPECT_THAT(host, HasSubstr("forwarding=0"));
}

TEST(Emit, FrrInItsWords) {
  const auto topo = *Topology::make(two_tiers());
  const std::string text = emit_frr(node_config(topo, switch_node(1, Tier::t1, 4)));
  EXPECT_THAT(
      text,
      HasSubstr("    prefix fcbb:bb00:9004::/48 block-len 32 node-len 16 func-bits 0\n    behavior usid\n"));
  EXPECT_THAT(text, HasSubstr("   sid fcbb:bb00:9004::/48 locator MRC behavior uN\n"));
  EXPECT_THAT(text, HasSubstr("ipv6 route fcbb:bb00:5002::/48 fe80::201:0:2 d2\n"));
}

TEST(Emit, SonicInItsWords) {
  const auto topo = *Topology::make(two_tiers());
  const json db =
      json::parse(emit_sonic(node_config(topo, switch_node(1, Tier::t0, 2)), {.lanes_per_port = 4}));
  EXPECT_EQ(db["SRV6_MY_LOCATORS"]["MRC"]["prefix"], "fcbb:bb00:5002::");
  EXPECT_EQ(db["SRV6_MY_SIDS"]["MRC|fcbb:bb00:5002::/48"]["action"], "uN");
  EXPECT_EQ(db["STATIC_ROUTE"]["default|fcbb:bb00:9004::/48"]["ifname"], "Ethernet24");
  EXPECT_EQ(db["STATIC_ROUTE"]["default|fcbb:bb00:9004::/48"]["nexthop"], "fe80::301:0:4");
  EXPECT_EQ(db["PORT"]["Ethernet24"]["speed"], "100000");
  EXPECT_EQ(db["PORT"]["Ethernet24"]["description"], "p1.t1.4");
  EXPECT_EQ(db["SWITCH_TRIMMING"]["GLOBAL"]["size"], "256");
  EXPECT_TRUE(db["QUEUE"]["Ethernet24|3"].contains("wred_profile")) << "marks inside the fabric";
  EXPECT_FALSE(db["QUEUE"]["Ethernet0|3"].contains("wred_profile")) << "and not toward a host";
  EXPECT_EQ(db["PORT_QOS_MAP"]["Ethernet0"]["tc_to_dscp_map"], "MRC_HOST");
  for (const auto& [table, rows] : db.items()) {
    for (const auto& [key, row] : rows.items()) {
      for (const auto& [field, value] : row.items())
        EXPECT_TRUE(value.is_string()) << table << " " << key << " " << field;
    }
  }
}

TEST(Emit, EvProfilesLeadToTheirCarriers) {
  const auto topo = *Topology::make(three_tiers());
  const std::string text = emit_ev_profile(topo, HostId(0), HostId(10), 4);
  EXPECT_NE(text.find("# To h10:"), text.npos);
  EXPECT_NE(text.find("fd4d:5243:2:5::1"), text.npos);
  EXPECT_NE(text.find("[ev.11]"), text.npos);
  const std::regex line(R"(ev = "0x[0-9a-f]+", port = (\d+) \},  # 0x([0-9a-f]+) ([0-9a-f:]+))");
  std::map<int, int> per_port;
  for (std::sregex_iterator e(text.begin(), text.end(), line), end; e != end; ++e) {
    const Ev ev(static_cast<std::uint32_t>(std::stoul((*e)[2], nullptr, 16)));
    const auto path = topo.path(HostId(0), HostId(10), ev);
    ASSERT_TRUE(path);
    const int port = std::stoi((*e)[1]);
    EXPECT_EQ(port, static_cast<int>(path->choice.plane) + 1);
    EXPECT_EQ((*e)[3], to_string(topo.carriers(topo.usids(*path)).addresses[0]));
    ++per_port[port];
  }
  EXPECT_EQ(per_port, (std::map<int, int>{{1, 4}, {2, 4}, {3, 4}}));
}

TEST(Select, TakesDifferentWaysEvenlyFromEachPlane) {
  const auto topo = *Topology::make(published());
  std::map<std::uint32_t, int> uplinks;
  for (std::uint32_t d = 256; d < 256 + 4096; ++d) {
    std::set<Choice> seen;
    const auto choices = select_choices(topo, HostId(3), HostId(d * 7 % 131072), 16);
    for (const Choice& c : choices) {
      EXPECT_TRUE(seen.insert(c).second);
      ++uplinks[c.uplink0];
    }
    EXPECT_EQ(choices.size(), 128u);
  }
  ASSERT_EQ(uplinks.size(), 256u);
  for (const auto& [uplink, count] : uplinks) EXPECT_NEAR(count, 2048, 400) << uplink;
  EXPECT_EQ(select_choices(topo, HostId(0), HostId(1), 16).size(), 8u) << "under one T0 a plane has one way";
  EXPECT_EQ(select_choices(topo, HostId(3), HostId(999), 4), select_choices(topo, HostId(3), HostId(999), 4));
}

TEST(Emit, NetlinkNamesAMissingInterface) {
  const auto topo = *Topology::make(two_tiers());
  const auto none =
      emit_netlink(node_config(topo, host_node(HostId(0))), [](const std::string& n) { return n == "p0"; });
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().what, "p1: there is no such interface");
}

}  // namespace
}  // namespace mrc::topo
