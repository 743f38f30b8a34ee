#include "map/itinerary.h"

#include <algorithm>

namespace mrc::map {
namespace {

using topo::Node;
using topo::Tier;
using topo::Topology;

/// Builds the legs of one probe.
struct Walk {
  const Topology& topo;
  HostId host;
  const ProbeName& name;
  Itinerary out{};

  std::uint32_t t0() const { return topo.t0_of(host); }
  std::uint32_t pod() const { return topo.pod_of_t0(t0()); }
  std::uint32_t t1(std::uint32_t uplink, std::uint32_t in_pod) const {
    return in_pod * topo.spec().t1 + uplink;
  }
  std::uint32_t t2(std::uint32_t uplink) const { return name.uplink0 * topo.spec().t2 + uplink; }

  Leg& leg(Plane plane, HostId from, HostId to) {
    Leg& l = out.legs[out.count++];
    l.plane = plane;
    l.from = from;
    l.to = to;
    return l;
  }
  static void add(Leg& l, Tier tier, std::uint32_t index) {
    l.switches[l.count++] = topo::switch_node(l.plane, tier, index);
  }

  void round_trip() {
    Leg& l = leg(name.plane, host, host);
    const std::uint32_t mine = t1(name.uplink0, pod());
    add(l, Tier::t0, t0());
    if (name.tier >= Tier::t1) add(l, Tier::t1, mine);
    if (name.tier == Tier::t2) {
      add(l, Tier::t2, t2(name.uplink1));
      add(l, Tier::t1, mine);
    }
    if (name.tier >= Tier::t1) add(l, Tier::t0, t0());
  }

  /// The switches between our lower switch and itself: x, y, b as Shape says. Above T0s they are T1s and b a
  /// T0; above T1s they are T2s and b the T1 of another pod.
  void around(Leg& l, Tier lower, std::uint32_t b, std::uint32_t x, std::uint32_t y) const {
    const Tier upper = lower == Tier::t0 ? Tier::t1 : Tier::t2;
    const auto up_down = [&](std::uint32_t first, std::uint32_t second) {
      add(l, upper, first);
      add(l, lower, b);
      add(l, upper, second);
    };
    if (name.shape == Shape::loop_up) return up_down(x, y);
    if (name.shape == Shape::loop_down) return up_down(y, x);
    if (name.shape == Shape::visit) return up_down(x, x);
    up_down(y, x);
    add(l, lower, b);
    add(l, upper, y);
  }

  void roundabout() {
    Leg& l = leg(name.plane, host, host);
    add(l, Tier::t0, t0());
    if (name.tier == Tier::t1) {
      around(l, Tier::t0, name.other, t1(name.uplink0, pod()), t1(name.other_uplink, pod()));
    } else {
      add(l, Tier::t1, t1(name.uplink0, pod()));
      around(l, Tier::t1, t1(name.uplink0, name.other), t2(name.uplink1), t2(name.other_uplink));
      add(l, Tier::t1, t1(name.uplink0, pod()));
    }
    add(l, Tier::t0, t0());
  }

  void under_t0(Plane plane, HostId from, HostId to) { add(leg(plane, from, to), Tier::t0, t0()); }
  void relay() {
    const HostId mate(name.other);
    const bool out_here = name.shape == Shape::relay_out, back_here = name.shape == Shape::relay_back;
    under_t0(out_here ? name.plane : name.other_plane, host, mate);
    if (name.shape == Shape::relay_proxy) under_t0(name.plane, mate, mate);
    under_t0(back_here ? name.plane : name.other_plane, mate, host);
  }
};

bool is_relay(Shape s) { return s >= Shape::relay_out; }

bool relay_possible(const Topology& topo, HostId host, const ProbeName& n) {
  return n.tier == Tier::t0 && n.other < topo.hosts() && n.other != host.value &&
         topo.t0_of(HostId(n.other)) == topo.t0_of(host) && n.other_plane < topo.planes() &&
         n.other_plane != n.plane;
}

bool roundabout_possible(const Topology& topo, HostId host, const ProbeName& n) {
  const topo::Spec& s = topo.spec();
  const std::uint32_t t0 = topo.t0_of(host), pod = topo.pod_of_t0(t0);
  const bool low = n.tier == Tier::t1;
  if (!low && n.tier != Tier::t2) return false;
  if (low ? n.other >= topo.switches(Tier::t0) || n.other == t0 || topo.pod_of_t0(n.other) != pod
          : n.other >= s.pods || n.other == pod)
    return false;
  if (n.shape == Shape::visit) return low;
  const std::uint32_t uplinks = low ? s.t1 : s.t2;
  return n.other_uplink < uplinks && n.other_uplink != (low ? n.uplink0 : n.uplink1);
}

bool possible(const Topology& topo, HostId host, const ProbeName& n) {
  const topo::Spec& s = topo.spec();
  if (host.value >= topo.hosts() || n.plane >= topo.planes() || static_cast<int>(n.shape) >= kShapes)
    return false;
  if (n.tier < Tier::t0 || static_cast<std::uint32_t>(n.tier) > topo.tiers()) return false;
  if (n.tier >= Tier::t1 && n.uplink0 >= s.t1) return false;
  if (n.tier == Tier::t2 && n.uplink1 >= s.t2) return false;
  if (n.shape == Shape::round_trip) return true;
  return is_relay(n.shape) ? relay_possible(topo, host, n) : roundabout_possible(topo, host, n);
}

topo::LinkId link_between(const Topology& topo, Node lower, Node upper) {
  if (upper.tier == Tier::t0) return topo.host_link(HostId(lower.index), upper.plane);
  const topo::Spec& s = topo.spec();
  if (upper.tier == Tier::t1) return topo.t0_t1_link(upper.plane, lower.index, upper.index % s.t1);
  return topo.t1_t2_link(upper.plane, lower.index, upper.index % s.t2);
}

topo::Hop hop_between(const Topology& topo, Node from, Node to) {
  if (from.tier < to.tier) return {link_between(topo, from, to), topo::Direction::up};
  return {link_between(topo, to, from), topo::Direction::down};
}

}  // namespace

std::optional<Itinerary> itinerary(const Topology& topo, HostId host, const ProbeName& name) {
  if (!possible(topo, host, name)) return std::nullopt;
  Walk walk{topo, host, name};
  if (name.shape == Shape::round_trip) {
    walk.round_trip();
  } else if (is_relay(name.shape)) {
    walk.relay();
  } else {
    walk.roundabout();
  }
  return walk.out;
}

std::vector<topo::Hop> hops(const Topology& topo, const Itinerary& way) {
  std::vector<topo::Hop> out;
  for (int i = 0; i < way.count; ++i) {
    const Leg& leg = way.legs[i];
    Node at = topo::host_node(leg.from);
    for (int s = 0; s < leg.count; ++s) {
      out.push_back(hop_between(topo, at, leg.switches[s]));
      at = leg.switches[s];
    }
    out.push_back(hop_between(topo, at, topo::host_node(leg.to)));
  }
  return out;
}

std::vector<Node> switches(const Itinerary& way) {
  std::vector<Node> out;
  for (int i = 0; i < way.count; ++i) {
    for (int s = 0; s < way.legs[i].count; ++s) out.push_back(way.legs[i].switches[s]);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

topo::LinkId subject(const Topology& topo, HostId host, const ProbeName& name) {
  const std::uint32_t t0 = topo.t0_of(host);
  if (name.tier == Tier::t0) return topo.host_link(host, name.plane);
  if (name.tier == Tier::t1) return topo.t0_t1_link(name.plane, t0, name.uplink0);
  return topo.t1_t2_link(name.plane, topo.pod_of_t0(t0) * topo.spec().t1 + name.uplink0, name.uplink1);
}

LegCarriers carriers(const Topology& topo, const Leg& leg) {
  LegCarriers out;
  const int first_group = topo.spec().locator.length / 16, room = topo.usids_per_carrier();
  for (int i = 0; i <= leg.count; ++i) {
    const auto usid = i < leg.count ? topo.usid(leg.switches[i]) : topo.usid(leg.to, leg.plane);
    if (i % room == 0) out.addresses[out.count++] = topo.spec().locator.address;
    out.addresses[out.count - 1].set_group(first_group + i % room, usid.value);
  }
  return out;
}

std::string to_string(Shape shape) {
  constexpr const char* kNames[kShapes] = {"round_trip", "visit",      "loop_up",     "loop_down",  "detour",
                                           "relay_out",  "relay_back", "relay_check", "relay_proxy"};
  return static_cast<int>(shape) < kShapes ? kNames[static_cast<int>(shape)] : "unknown";
}

}  // namespace mrc::map
