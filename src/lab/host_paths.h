// How an ordinary UDP socket of a host reaches every path: the kernel encapsulates by source port.
//
// The source port is the low half of the EV, so a rule per source port leads to a table per T0 uplink, in
// which each NIC address of the fabric has a route with `encap seg6`: IPv6 in IPv6 toward the path's uSID
// carrier, as specified, without privileges in the sender. Source ports that no rule knows take the plain
// routes.
#pragma once

#include <optional>
#include <set>

#include "lab/kernel.h"
#include "topo/topo.h"

namespace mrc::lab {

/// EVs that a device without a profile makes up for itself: some source ports per NIC port, one after the
/// other. They are spread over the uplinks in order.
struct AutoEvs {
  std::uint16_t first_source_port = 61000;
  std::uint16_t ports_per_plane = 8;
};

inline constexpr std::uint32_t kFirstPathTable = 1000;  // of uplink 0; one per way of a plane
inline constexpr std::uint32_t kPathRulePriority = 1000;

/// Routes of the tables, but for planes that are down; to be sent again when an interface comes back, because
/// the kernel forgets them.
void add_path_routes(Messages& out, const topo::Topology& topo, topo::HostId host,
                     const std::set<std::uint32_t>& down);
/// The way that these rules give a source port; nothing: a plain route.
std::optional<topo::Choice> way_of_source_port(const topo::Topology& topo, const AutoEvs& evs,
                                               std::uint16_t port);
/// Rules, once.
void add_path_rules(Messages& out, const topo::Topology& topo, const AutoEvs& evs);

}  // namespace mrc::lab
