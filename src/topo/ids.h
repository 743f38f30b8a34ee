// Names for the things of a fabric: nodes, cables, directions, ways through it. Values, a few bytes each.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include "base/ids.h"

namespace mrc::topo {

using Plane = std::uint32_t;  // 0-based; NIC port and API port number are plane + 1
using HostId = Id<struct HostTag, std::uint32_t>;
using LinkId =
    Id<struct LinkTag, std::uint32_t>;  // a cable: dense, 0 .. links()-1, planes one after the other
using Mac = std::array<std::uint8_t, 6>;
using Usid = Id<struct UsidTag, std::uint16_t>;  // 16 bits of a SRv6 carrier; 0 ends the carrier

constexpr PortId nic_port(Plane p) { return PortId(static_cast<std::uint8_t>(p + 1)); }
constexpr Plane plane_of(PortId p) { return p.value - 1u; }

enum class Tier : std::uint8_t { host, t0, t1, t2 };

/// A host or a switch. A switch's index counts through its plane; a host belongs to every plane, so its plane
/// is 0.
struct Node {
  Tier tier = Tier::host;
  std::uint8_t plane = 0;
  std::uint32_t index = 0;
  constexpr auto operator<=>(const Node&) const = default;
};
constexpr Node host_node(HostId h) { return {Tier::host, 0, h.value}; }
constexpr Node switch_node(Plane p, Tier tier, std::uint32_t index) {
  return {tier, static_cast<std::uint8_t>(p), index};
}

/// One end of a cable. Ports of a host: its planes. Ports of a switch: downlinks first, in order, then
/// uplinks.
struct Attachment {
  Node node;
  std::uint32_t port = 0;
  constexpr auto operator<=>(const Attachment&) const = default;
};

/// `lower` is nearer to the hosts.
struct Ends {
  Attachment lower, upper;
  constexpr bool operator==(const Ends&) const = default;
};

enum class LinkKind : std::uint8_t { host_t0, t0_t1, t1_t2 };
enum class Direction : std::uint8_t { up, down };

/// A cable used one way: what has a queue, and what a one-way fault hits.
struct Hop {
  LinkId link;
  Direction direction = Direction::up;

  /// Dense: 0 .. 2 * links() - 1.
  constexpr std::uint32_t index() const { return link.value * 2 + static_cast<std::uint32_t>(direction); }
  constexpr auto operator<=>(const Hop&) const = default;
};
constexpr Hop hop_at(std::uint32_t index) { return {LinkId(index / 2), static_cast<Direction>(index % 2)}; }

/// What an EV says: everything about a way through the fabric that the two hosts do not determine.
/// `uplink0` is the T0's uplink, so the T1 within the pod; `uplink1` the T1's, so the T2 within its group.
struct Choice {
  Plane plane = 0;
  std::uint32_t uplink0 = 0;
  std::uint32_t uplink1 = 0;
  constexpr auto operator<=>(const Choice&) const = default;
};

inline constexpr int kMaxSwitches = 5;  // T0 T1 T2 T1 T0
inline constexpr int kMaxHops = kMaxSwitches + 1;
inline constexpr int kMaxUsids = kMaxSwitches + 1;  // the switches, then the destination

/// One way from one host to another: as long as the two need. Unused entries are zero.
struct Path {
  HostId source, destination;
  Choice choice;  // uplinks that the path does not use are 0
  std::uint8_t switch_count = 0;
  std::array<Node, kMaxSwitches> switches{};
  std::array<Hop, kMaxHops> hops{};

  int hop_count() const { return switch_count + 1; }
  bool operator==(const Path&) const = default;
};

}  // namespace mrc::topo
