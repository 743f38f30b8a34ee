// Small fabrics in which one thing breaks while collectives run, a world per seed. As long as one plane works
// no message may fail, and none may wait for long.
#pragma once

#include <cstdint>
#include <string>

#include "sim/ps.h"

namespace mrc::scenario {

/// How much later than without its fault a run may end: probes, repairs and a plane given up take a fraction
/// of it, a QP that waits for its retry timer takes many times as long.
inline constexpr sim::Ps kFaultPatience = 1'500'000'000;

struct FaultStormOutcome {
  std::string broken;       // empty, or what went wrong and in which world, in words
  std::uint64_t trace = 0;  // a digest of every message's times: the same on any number of threads
  std::uint64_t messages = 0, failed = 0, packets = 0, repairs = 0;
  sim::Ps took = 0;  // until the last message was received and acknowledged
};

struct FaultStormSettings {
  unsigned threads = 1;
  sim::Ps patience = kFaultPatience;
  bool planted = false;  // the other planes break too: what must be seen
};

/// The world of a seed as a scenario that `mrc sim` reads.
std::string fault_storm_scenario(std::uint64_t seed, bool planted = false);

FaultStormOutcome run_fault_storm(std::uint64_t seed, const FaultStormSettings& settings = {});

}  // namespace mrc::scenario
