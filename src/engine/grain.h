// The least time that Ticks can tell apart: what shall happen soon, but not now, happens this much later.
#pragma once

#include "base/time.h"

namespace mrc::engine {

inline constexpr Duration kGrain = 64ns;

}  // namespace mrc::engine
