// How fast the engine recovers: one row per promise, measured over seeds in virtual time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "pair/pair.h"

namespace mrc::pair {

struct RecoveryRow {
  std::string name;                      // the case
  std::string target;                    // as promised, in words
  std::string unit;                      // of the figures
  double median = 0, low = 0, high = 0;  // over seeds
  bool met = false;                      // by every seed, or by the median where the promise speaks of rates
};

/// Measures case by case and tells each row as soon as it is known. `congestion` serves the cases of uniform
/// loss; none: a fixed window.
void measure_recovery(int seeds, const MakeCongestion& congestion,
                      const std::function<void(const RecoveryRow&)>& tell);

}  // namespace mrc::pair
