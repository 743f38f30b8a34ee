// How often each EV stands in a host's set when whoever makes the sets knows how fast the links are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/fault.h"
#include "topo/select.h"
#include "topo/topo.h"

namespace mrc::sim {

inline std::uint32_t t0s_with_hosts(const topo::Topology& topo) {
  return topo.t0_of(topo::HostId(topo.hosts() - 1)) + 1;
}

/// Turns of each EV, in the order of their numbers, for hosts under this T0: in proportion to what its paths
/// carry on average over where they lead, as links are at time 0. At most so many in a plane; 1 each where
/// links are alike, or where there is no room for more. A path that carries nothing has none.
topo::Turns ev_turns(const topo::Topology& topo, std::span<const Stroke> strokes, std::uint32_t t0,
                     std::uint32_t most_per_plane);

}  // namespace mrc::sim
