// What each switch's static table says, as ranges: by uSID (SRv6) and by destination (ECMP and structured
// EVs). A range has the meaning and the fields of fabric::Range; a switch of 512 ports needs two or three.
#pragma once

#include <cstdint>
#include <vector>

#include "topo/topo.h"

namespace mrc::topo {

/// Keys first .. first+count-1; each port takes `per_port` of them in turn, from `port` on.
struct RouteRange {
  std::uint32_t first = 0;
  std::uint32_t count = 1;
  std::uint32_t per_port = 1;
  std::uint16_t port = 0;
  bool operator==(const RouteRange&) const = default;
};

/// Keys are uSIDs: neighbours above by their own, hosts below by their downlink's. Downlinks without a host
/// are left out.
std::vector<RouteRange> usid_routes(const Topology& topo, Node sw);
/// Keys are T0 << 16 | downlink: what lies below. Everything else goes up by any uplink.
std::vector<RouteRange> destination_routes(const Topology& topo, Node sw);

/// Where a tier's uplink number lies in an EV's path bits (topo/ev.h).
struct EvField {
  int shift = 0;
  int bits = 0;
};
EvField uplink_field(const Topology& topo, Tier tier);

/// One row of a table, for configurations: reach `prefix` by `port`.
struct Route {
  Ipv6Prefix prefix;
  std::uint32_t port = 0;
};
/// All rows of a switch's uSID table, its own SID not among them.
std::vector<Route> usid_route_list(const Topology& topo, Node sw);

}  // namespace mrc::topo
