// How fast the engine recovers: one row per promise, measured over seeds in virtual time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pair/pair.h"

namespace mrc::pair {

struct RecoveryRow {
  std::string name;                      // the case
  std::string target;                    // as promised, in words
  std::string unit;                      // of the figures
  double median = 0, low = 0, high = 0;  // over seeds
  bool met = false;                      // by every seed, or by the median where the promise speaks of rates
};

/// Congestion control for the loss cases; none: a fixed window.
std::vector<RecoveryRow> measure_recovery(int seeds, const MakeCongestion& congestion);

}  // namespace mrc::pair
