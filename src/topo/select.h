// Which EVs two hosts use when the fabric offers more than a QP needs: an equal number from each plane.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topo/topo.h"

namespace mrc::topo {

/// At most `per_plane` different ways of each plane, planes in turn. The same two hosts and seed get the same
/// ways; other pairs get others, so that over all pairs every uplink is used alike.
std::vector<Choice> select_choices(const Topology& topo, HostId source, HostId destination,
                                   std::uint32_t per_plane, std::uint64_t seed = 0);

/// Turns in proportion to shares: `most` for the largest, at least one for whoever has any, without a common
/// factor. REQUIRES a share above zero.
std::vector<std::uint8_t> turns_by_share(std::span<const double> shares, std::uint32_t most);

/// EVs that carry only part of what others do.
struct SlowEvs {
  EvSet evs = EvSet::none();
  double part = 1;
};
/// Each choice as often as it has turns, in eighths: an EV that stands in several slots of a profile has
/// several.
std::vector<Choice> repeat_by_speed(const std::vector<Choice>& choices, std::span<const SlowEvs> slow);

}  // namespace mrc::topo
