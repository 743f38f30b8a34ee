// `mrc sim --record`: frames of a run, for the page and for `mrc top`.
#pragma once

#include <memory>

#include "tools/sim_scenario.h"
#include "view/recording.h"

namespace mrc::tools {

/// Makes `wanted` look at the world at the asked interval. Nothing when no recording is wanted.
Result<std::unique_ptr<view::Recorder>> record_scenario(const ScenarioOptions& options,
                                                        const scenario::Scenario& scenario,
                                                        const scenario::Prepared& prepared,
                                                        scenario::Wanted& wanted);

}  // namespace mrc::tools
