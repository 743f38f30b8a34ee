// What can't work is said before a run, not found out by it.
#pragma once

#include "sim/world.h"

namespace mrc::sim {

/// Refuses fabrics whose round trip is beyond what the engine has in flight, and ports with no room for a
/// packet.
Status feasible(const topo::Topology& topo, const WorldSettings& settings, Workload& load);

}  // namespace mrc::sim
