// Who probes what: the share of each node, and what it looks at more closely when something seems wrong.
#pragma once

#include <vector>

#include "map/itinerary.h"
#include "map/settings.h"

namespace mrc::map {

/// What a host probes all the time: its T0s, its share of the links above them, and a T0 elsewhere.
/// Together all hosts probe every link, `coverage` times where there are so many hosts.
std::vector<ProbeName> regular_probes(const topo::Topology& topo, HostId host, const Settings& settings);

/// The round trip that ends one tier below: when that fails too, this one says nothing of its own.
std::optional<ProbeName> below(const ProbeName& name);

/// What tells a link from its switch, and one direction from the other. `detour_uplink`: a y that works;
/// `other_plane`: a plane that works.
std::vector<ProbeName> close_look(const topo::Topology& topo, HostId host, const ProbeName& suspect,
                                  std::uint32_t detour_uplink, Plane other_plane, const Settings& settings);

}  // namespace mrc::map
