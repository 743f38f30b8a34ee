// Which EVs two hosts use when the fabric offers more than a QP needs: an equal number from each plane.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "topo/topo.h"

namespace mrc::topo {

/// At most `per_plane` different ways of each plane, planes in turn. The same two hosts and seed get the same
/// ways; other pairs get others, so that over all pairs every uplink is used alike.
std::vector<Choice> select_choices(const Topology& topo, HostId source, HostId destination,
                                   std::uint32_t per_plane, std::uint64_t seed = 0);

/// How many turns each path of a set has in a round.
using Turns = std::vector<std::uint8_t>;
/// Turns in proportion to shares, at least one for whoever has any, without a common factor: eight for the
/// largest, or half as many until they fit. One each where nothing else fits, or nobody has a share.
Turns turns_by_share(std::span<const double> shares, const std::function<bool(const Turns&)>& fit);

/// EVs that carry only part of what others do.
struct SlowEvs {
  EvSet evs = EvSet::none();
  double part = 1;
};
/// Each choice as often as it has turns, as far as a profile has room: an EV that stands in several of its
/// slots has several.
std::vector<Choice> repeat_by_speed(const std::vector<Choice>& choices, std::span<const SlowEvs> slow);

}  // namespace mrc::topo
