// The storm: one seed, one world, one run, and oracles that know nothing of how the engine works.
#pragma once

#include <cstdint>
#include <string>

namespace mrc::pair {

struct StormOutcome {
  std::string broken;       // empty, or the first promise that was broken, in words
  std::uint64_t trace = 0;  // a digest of everything that happened: the same seed gives the same
  std::uint64_t packets = 0, repairs = 0, retries = 0, works = 0, failures = 0;
};

/// `planted` breaks the engine's memory on purpose (a byte is counted twice): the oracles must see it.
StormOutcome run_storm(std::uint64_t seed, bool planted = false);

}  // namespace mrc::pair
