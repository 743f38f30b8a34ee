// A picture of a fabric: one panel per plane, a row per tier, every cable a line. SVG that needs nothing
// else.
#pragma once

#include <string>

#include "topo/topo.h"

namespace mrc::topo {

/// What does not fit is left out and said: at most `max_per_row` nodes of a tier (the first ones and the
/// last), and `max_planes` panels.
struct DrawSettings {
  std::uint32_t max_per_row = 16;
  std::uint32_t max_planes = 8;
};

std::string draw_svg(const Topology& topo, const DrawSettings& settings = {});

}  // namespace mrc::topo
