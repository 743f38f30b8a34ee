// Findings become denied EVs of real profiles, and no others.
#include "map/denylist.h"

#include <gtest/gtest.h>

#include "node/local_profiles.h"
#include "topo/template.h"

namespace mrc::map {
namespace {

using S = node::ProfileState;

topo::Topology fabric() {
  return *topo::Topology::make({.planes = 2, .tiers = 2, .t0 = 2, .t1 = 4, .hosts_per_t0 = 2});
}

/// A host's profile toward another host: one EV per path, as uSID carriers, as a daemon would install it.
struct Srv6Profile {
  Srv6Profile() : store(limits()) {
    const topo::Template t = row_template(topo, h0, h3);
    std::vector<std::uint8_t> widths;
    std::vector<node::EvField> fields;
    for (const auto& f : t.fields) {
      widths.push_back(static_cast<std::uint8_t>(f.width));
      fields.push_back({.width = f.width, .init = f.init, .mask = f.mask});
    }
    EXPECT_EQ(store.modify_format(1, {.state = S::offline, .mode = node::FormatMode::srv6, .widths = widths}),
              0);
    EXPECT_EQ(store.modify_format(1, {.state = S::online}), 0);
    node::EvChange make{
        .state = S::offline, .mode = node::EvMode::explicit_, .format = 1, .count = topo.evs()};
    make.min_active = 2;
    make.event_mask = 7;
    make.fields = fields;
    EXPECT_EQ(store.modify_ev(7, make).error, 0);
    node::EvChange fill;
    for (std::uint32_t i = 0; i < topo.evs(); ++i) fill.replaces.push_back({{}, value(t, i)});
    EXPECT_EQ(store.modify_ev(7, fill).error, 0);
    EXPECT_EQ(store.modify_ev(7, {.state = S::online}).error, 0);
  }
  static node::ProfileLimits limits() { return {.ports = 2}; }
  topo::Choice choice(std::uint32_t i) const { return *topo.choice(topo.ev_at(i)); }
  node::EvValue value(const topo::Template& t, std::uint32_t i) const {
    const std::uint64_t bits = profile_value(topo, t, h0, h3, choice(i));
    node::EvValue v;
    const int count = t.ev_bits();
    for (int b = 0; b < count; ++b) {
      if ((bits >> (count - 1 - b) & 1) != 0) v.bits[b / 8] |= static_cast<std::uint8_t>(0x80 >> b % 8);
    }
    v.port = topo::nic_port(choice(i).plane).value;
    return v;
  }
  /// Slots that are denied, as a row of 0 and 1.
  std::string denied() const {
    std::string out;
    for (const auto& slot : store.ev(7).slots) out += slot.denied ? '1' : '0';
    return out;
  }
  /// What the path queries of topo say should be denied.
  template <class Thing>
  std::string through(Thing thing) const {
    std::string out;
    for (std::uint32_t i = 0; i < topo.evs(); ++i)
      out += topo.evs_through(thing, h0, h3).contains(choice(i)) ? '1' : '0';
    return out;
  }
  Denylist::Change apply(std::vector<Culprit> culprits) {
    std::vector<Finding> findings;
    for (const Culprit& c : culprits) findings.push_back({c});
    return list.apply(7, findings);
  }

  topo::Topology topo = fabric();
  HostId h0{0}, h3{3};
  node::LocalProfiles store;
  Denylist list{topo, h0, store};
};

Culprit link(topo::LinkId l, Fault fault = Fault::dead) { return {.fault = fault, .hop = {l}}; }

// MRC-FAB-035
TEST(Denylist, ALinkDeniesExactlyItsEvsAndGivesThemBack) {
  Srv6Profile p;
  for (std::uint32_t l = 0; l < p.topo.links(); ++l) {
    const std::string hit = p.through(topo::LinkId(l));
    p.apply({link(topo::LinkId(l))});
    EXPECT_EQ(p.denied(), hit) << p.topo.name(topo::LinkId(l));
    p.apply({});
    EXPECT_EQ(p.denied(), "00000000");
  }
}

TEST(Denylist, ASwitchAtTheOtherEndCountsToo) {
  Srv6Profile p;
  const topo::Node far = topo::switch_node(1, topo::Tier::t0, 1);
  EXPECT_EQ(p.apply({{.what = What::node, .node = far}}), (Denylist::Change{4, 0, 0}));
  EXPECT_EQ(p.denied(), p.through(far));
}

TEST(Denylist, OneWayThatThePathDoesNotTakeIsNoReason) {
  Srv6Profile p;
  const topo::LinkId l = p.topo.t0_t1_link(0, 0, 2);  // h0's T0: its packets go up here
  EXPECT_EQ(p.apply({{.what = What::one_way, .hop = {l, topo::Direction::down}}}).denied, 0u);
  EXPECT_EQ(p.apply({{.what = What::one_way, .hop = {l, topo::Direction::up}}}).denied, 1u);
}

TEST(Denylist, NeverBelowMinActiveAndDeadBeforeLossy) {
  Srv6Profile p;
  const topo::LinkId plane0 = p.topo.host_link(p.h0, 0), plane1 = p.topo.host_link(p.h0, 1);
  // Eight EVs, two must stay: the dead plane goes first, though it is named last.
  EXPECT_EQ(p.apply({link(plane0, Fault::lossy), link(plane1)}), (Denylist::Change{6, 0, 2}));
  for (std::uint32_t i = 0; i < p.topo.evs(); ++i) {
    if (p.choice(i).plane == 1) {
      EXPECT_EQ(p.denied()[i], '1');
    }
  }
}

TEST(Denylist, AnOperatorsDenialStays) {
  Srv6Profile p;
  const auto slot = p.store.ev(7).slots[0].value;
  ASSERT_EQ(p.store.modify_ev(7, {.states = {{slot, node::EvState::denied}}}).error, 0);
  p.apply({link(p.topo.host_link(p.h0, 0))});
  p.apply({});
  EXPECT_EQ(p.denied(), "10000000");
}

TEST(Denylist, AProfileThatIsNotThereIsLeftAlone) {
  Srv6Profile p;
  EXPECT_EQ(p.list.apply(99, {{link(topo::LinkId(0))}}), Denylist::Change{});
}

TEST(Denylist, StructuredEvsAreDeniedByTheWayUp) {
  const auto topo = fabric();
  node::ResolvedEv ev{.ev = topo.ev({1, 2, 0}), .port = PortId(2)};
  const auto way = hops_of(topo, HostId(0), ev, node::FormatMode::stev);
  EXPECT_TRUE(touches(topo, link(topo.t0_t1_link(1, 0, 2)), way));
  EXPECT_TRUE(touches(topo, {.what = What::node, .node = topo::switch_node(1, topo::Tier::t1, 2)}, way));
  EXPECT_FALSE(touches(topo, link(topo.t0_t1_link(1, 1, 2)), way));  // the other end: the EV may go elsewhere
  ev.ev = Ev(61000);
  EXPECT_EQ(hops_of(topo, HostId(0), ev, node::FormatMode::stev).size(), 1u);
}

}  // namespace
}  // namespace mrc::map
