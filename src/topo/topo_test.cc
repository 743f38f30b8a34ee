// Counts, cables and names of every small fabric, each both ways, and the published one by its corners.
#include "topo/topo.h"

#include <gtest/gtest.h>

#include <set>

#include "topo/shapes_for_test.h"

namespace mrc::topo {
namespace {

class EveryShape : public testing::TestWithParam<Spec> {
 protected:
  Topology topo = *Topology::make(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Topology, EveryShape, testing::ValuesIn(small_shapes()));

TEST_P(EveryShape, CablesJoinEachPortToOneOther) {
  std::set<Attachment> seen;
  for (std::uint32_t i = 0; i < topo.links(); ++i) {
    const Ends e = topo.ends(LinkId(i));
    EXPECT_EQ(topo.link_at(e.lower), LinkId(i));
    EXPECT_EQ(topo.link_at(e.upper), LinkId(i));
    EXPECT_EQ(topo.peer(e.lower), e.upper);
    EXPECT_EQ(topo.peer(e.upper), e.lower);
    EXPECT_LT(e.lower.node.tier, e.upper.node.tier);
    EXPECT_TRUE(seen.insert(e.lower).second) << topo.name(LinkId(i));
    EXPECT_TRUE(seen.insert(e.upper).second) << topo.name(LinkId(i));
  }
  std::size_t ports = std::size_t{topo.hosts()} * topo.planes();
  for (std::uint32_t s = 0; s < topo.switches(); ++s) ports += topo.ports(topo.switch_at(s));
  const std::uint32_t empty = topo.switches(Tier::t0) * topo.spec().hosts_per_t0 - topo.hosts();
  EXPECT_EQ(seen.size(), ports - empty * topo.planes());
}

TEST_P(EveryShape, HopsRunFromSenderToReceiver) {
  for (std::uint32_t i = 0; i < 2 * topo.links(); ++i) {
    const Hop h = hop_at(i);
    EXPECT_EQ(h.index(), i);
    EXPECT_EQ(topo.hop_from(topo.sender(h)), h);
    EXPECT_EQ(topo.peer(topo.sender(h)), topo.receiver(h));
  }
}

TEST_P(EveryShape, NamesFindWhatTheyName) {
  std::set<std::string> names;
  for (std::uint32_t i = 0; i < topo.hosts(); ++i) {
    EXPECT_EQ(topo.find_node(topo.name(host_node(HostId(i)))), host_node(HostId(i)));
  }
  for (std::uint32_t i = 0; i < topo.switches(); ++i) {
    const Node s = topo.switch_at(i);
    EXPECT_EQ(topo.switch_number(s), i);
    EXPECT_EQ(topo.find_node(topo.name(s)), s);
    EXPECT_TRUE(names.insert(topo.name(s)).second);
  }
  for (std::uint32_t i = 0; i < topo.links(); ++i) {
    EXPECT_EQ(topo.find_link(topo.name(LinkId(i))), LinkId(i));
    for (const auto d : {Direction::up, Direction::down}) {
      EXPECT_EQ(topo.find_hop(topo.name(Hop{LinkId(i), d})), (Hop{LinkId(i), d}));
    }
  }
}

TEST_P(EveryShape, AddressesFindTheirNicPort) {
  std::set<Ipv6> seen;
  for (std::uint32_t h = 0; h < topo.hosts(); ++h) {
    for (Plane p = 0; p < topo.planes(); ++p) {
      const Ipv6 a = topo.address(HostId(h), p);
      EXPECT_TRUE(seen.insert(a).second) << to_string(a);
      EXPECT_EQ(topo.host_at(a), (Topology::NicPort{HostId(h), p}));
      EXPECT_TRUE(topo.subnet(p, topo.t0_of(HostId(h))).contains(a));
    }
  }
}

TEST_P(EveryShape, LinkAddressesAreDistinct) {
  std::set<Mac> macs;
  std::set<Ipv6> locals;
  for (std::uint32_t i = 0; i < topo.links(); ++i) {
    const Ends e = topo.ends(LinkId(i));
    for (const Attachment& a : {e.lower, e.upper}) {
      EXPECT_TRUE(macs.insert(topo.mac(a)).second) << topo.name(LinkId(i));
      EXPECT_EQ(topo.mac(a)[0], 0x02) << "locally administered, one station";
      locals.insert(topo.link_local(a.node));
    }
  }
  EXPECT_EQ(locals.size(), topo.hosts() + topo.switches());
}

TEST(Topology, NamesReadAsPeopleSayThem) {
  const auto topo = *Topology::make(two_tiers());
  EXPECT_EQ(topo.name(topo.host_link(HostId(3), 1)), "h3-p1.t0.1");
  EXPECT_EQ(topo.name(topo.t0_t1_link(2, 1, 4)), "p2.t0.1-p2.t1.4");
  EXPECT_EQ(topo.name(Hop{topo.t0_t1_link(2, 1, 4), Direction::down}), "p2.t1.4>p2.t0.1");
  EXPECT_EQ(topo.port_name({switch_node(0, Tier::t0, 0), 1}), "d1");
  EXPECT_EQ(topo.port_name({switch_node(0, Tier::t0, 0), 2}), "u0");
  EXPECT_EQ(topo.port_name({host_node(HostId(0)), 3}), "p3");
  EXPECT_EQ(to_string(topo.address(HostId(3), 1)), "fd4d:5243:1:1::2");
}

TEST(Topology, NamesOfNothingFindNothing) {
  const auto topo = *Topology::make(two_tiers());
  for (const char* name : {"", "h", "h6", "h01", "h1 ", "p0", "p4.t0.0", "p0.t0.3", "p0.t3.0", "p0.t1.5",
                           "p0.t0.-1", "q0.t0.0", "p0.t0.0x", "p99999999999.t0.0", "t0.0"}) {
    EXPECT_FALSE(topo.find_node(name)) << name;
  }
  for (const char* name :
       {"", "-", "h0-h1", "h0-p0.t0.1", "p0.t0.0-p1.t1.0", "p0.t0.0-p0.t0.1", "h0>p0.t0.0", "h0-p0.t1.0"}) {
    EXPECT_FALSE(topo.find_link(name)) << name;
  }
}

TEST(Topology, AddressesOfNobodyFindNobody) {
  const auto topo = *Topology::make(three_tiers());  // the last T0 has one host of two
  for (const char* a : {"::", "fd4d:5243::", "fd4d:5243:3:0::1", "fd4d:5243:0:6::1", "fd4d:5243:0:5::2",
                        "fd4d:5243:0:0::3", "fd4d:5243:0:0:1::1", "fd4d:5244:0:0::1"}) {
    EXPECT_FALSE(topo.host_at(*parse_ipv6(a))) << a;
  }
  EXPECT_TRUE(topo.host_at(*parse_ipv6("fd4d:5243:2:5::1")));
}

TEST(Topology, ThePublishedFabricHasItsNumbers) {
  const auto topo = *Topology::make(published());
  EXPECT_EQ(topo.hosts(), 131072u);
  EXPECT_EQ(topo.switches(), 8u * 768);
  EXPECT_EQ(topo.links(), 8u * 2 * 131072);
  EXPECT_EQ(topo.evs(), 2048u);
  EXPECT_LE(sizeof(Topology), 256u);
  const LinkId last(topo.links() - 1);
  EXPECT_EQ(topo.name(last), "p7.t0.511-p7.t1.255");
  EXPECT_EQ(topo.find_link("p7.t0.511-p7.t1.255"), last);
}

}  // namespace
}  // namespace mrc::topo
