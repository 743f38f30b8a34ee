// What one node knows about one of its probes: small, and the same bytes in memory and between processes of a
// machine.
#pragma once

#include <type_traits>

#include "map/itinerary.h"
#include "map/tally.h"

namespace mrc::map {

struct Observation {
  HostId host;
  ProbeName name;
  Condition condition = Condition::unknown;
  Time answered_at{};  // when its newest answered probe left
  Time lost_since{};   // when what is wrong with it began
  bool clean = false;  // enough answers in a row
  std::uint32_t window = 0, lost = 0;
  Duration rtt{0};      // smoothed: with the queues of today
  Duration rtt_min{0};  // of late: the way alone

  double loss() const { return window == 0 ? 0 : double(lost) / window; }
};
static_assert(std::is_trivially_copyable_v<Observation>);

}  // namespace mrc::map
