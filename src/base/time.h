// Time as the engine knows it: integer nanoseconds that somebody else counts.
#pragma once

#include <chrono>
#include <cstdint>

namespace mrc {

using Duration = std::chrono::duration<std::int64_t, std::nano>;

/// A clock without now(): nothing that decides may read a clock, so every time arrives as an argument.
struct EngineClock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = Duration;
  using time_point = std::chrono::time_point<EngineClock, Duration>;
};

using Time = EngineClock::time_point;

inline constexpr Time kNever = Time::max();

using namespace std::chrono_literals;

}  // namespace mrc
