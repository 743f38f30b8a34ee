// Results as CSV: one row per message, per moment, per direction of a link.
#pragma once

#include <string>

#include "scenario/outcome.h"
#include "sim/host_plan.h"

namespace mrc::scenario {

std::string flows_csv(const Outcome& outcome, const sim::Ensemble& load);
std::string series_csv(const Outcome& outcome);
std::string links_csv(const Outcome& outcome);

}  // namespace mrc::scenario
