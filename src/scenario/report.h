// One run as one page: figures, plots, tables, and the scenario that it came from.
#pragma once

#include <string>

#include "scenario/outcome.h"

namespace mrc::scenario {

/// `source` is the scenario's text, with all that changed it.
std::string report(const Scenario& scenario, const topo::Topology& topology, const Outcome& outcome,
                   const std::string& source);

}  // namespace mrc::scenario
