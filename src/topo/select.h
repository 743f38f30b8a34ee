// Which EVs two hosts use when the fabric offers more than a QP needs: an equal number from each plane.
#pragma once

#include <cstdint>
#include <vector>

#include "topo/topo.h"

namespace mrc::topo {

/// At most `per_plane` different ways of each plane, planes in turn. The same two hosts and seed get the same
/// ways; other pairs get others, so that over all pairs every uplink is used alike.
std::vector<Choice> select_choices(const Topology& topo, HostId source, HostId destination,
                                   std::uint32_t per_plane, std::uint64_t seed = 0);

}  // namespace mrc::topo
