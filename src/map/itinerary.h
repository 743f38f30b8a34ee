// The ways that probes go: named by what they look at, and computed from the topology alone, so that any node
// can tell which links another node's probe crossed.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "topo/topo.h"

namespace mrc::map {

using topo::HostId;
using topo::Plane;

/// What a probe does. x is the link in question; y another uplink; b another switch of x's lower tier.
enum class Shape : std::uint8_t {
  round_trip,   // up to a switch of `tier` and back the same way
  visit,        // to another T0 and back, through one T1: an outside witness
  loop_up,      // up by x, down to b, back by y: crosses x upward only
  loop_down,    // up by y, down to b, up to x's switch, down by x: crosses x downward only
  detour,       // to x's switch and back without x
  relay_out,    // to a host under the same T0, which sends it back in another plane
  relay_back,   // out in the other plane, back in this one
  relay_check,  // out and back in the other plane: is that host there at all?
  relay_proxy,  // out in the other plane; that host looks at the T0 in this one, and sends it back
};
inline constexpr int kShapes = 9;

/// A probe of one host, and the host is said elsewhere.
struct ProbeName {
  Shape shape = Shape::round_trip;
  topo::Tier tier = topo::Tier::t0;  // the upper end of the link in question
  std::uint8_t plane = 0;
  std::uint8_t other_plane = 0;    // of relays
  std::uint16_t uplink0 = 0;       // x's T1, within the pod
  std::uint16_t uplink1 = 0;       // x's T2, within the group
  std::uint16_t other_uplink = 0;  // y
  std::uint32_t other = 0;         // b: a T0, a pod, or, of relays, a host
  constexpr auto operator<=>(const ProbeName&) const = default;
};

inline constexpr int kMaxLegSwitches = 9;  // T0 T1 T2' T1' T2 T1' T2' T1 T0
inline constexpr int kMaxLegs = 3;

/// From a host to a host in one plane. What is between two legs, a host's mapper does.
struct Leg {
  Plane plane = 0;
  HostId from, to;
  std::array<topo::Node, kMaxLegSwitches> switches{};
  std::uint8_t count = 0;
};
struct Itinerary {
  std::array<Leg, kMaxLegs> legs{};
  std::uint8_t count = 0;
};

/// Nothing when this host can not send such a probe: names come from other nodes too.
std::optional<Itinerary> itinerary(const topo::Topology& topo, HostId host, const ProbeName& name);
/// Every hop in order.
std::vector<topo::Hop> hops(const topo::Topology& topo, const Itinerary& way);
/// Every switch once.
std::vector<topo::Node> switches(const Itinerary& way);
/// The link in question.
topo::LinkId subject(const topo::Topology& topo, HostId host, const ProbeName& name);

/// The uSIDs of a leg packed into carriers, first to be used first. More than one needs an SRH.
inline constexpr int kMaxCarriers = 2;
struct LegCarriers {
  std::array<Ipv6, kMaxCarriers> addresses{};
  std::uint8_t count = 0;
};
LegCarriers carriers(const topo::Topology& topo, const Leg& leg);

std::string to_string(Shape shape);

}  // namespace mrc::map
