// Picoseconds: the fabric's time, and the one place where it meets the engine's nanoseconds.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace mrc::sim {

using Ps = std::int64_t;

inline constexpr Ps kPsPerNs = 1000;
inline constexpr Ps kPsPerSecond = 1'000'000'000'000;
inline constexpr Ps kNeverPs = INT64_MAX;

constexpr Ps to_ps(Duration d) { return d.count() * kPsPerNs; }
/// The engine sees the nanosecond that has begun.
constexpr Time engine_time(Ps t) { return Time(Duration(t / kPsPerNs)); }
/// The first instant at which engine_time() has reached `t`.
constexpr Ps to_ps(Time t) {
  const std::int64_t ns = t.time_since_epoch().count();
  return ns >= kNeverPs / kPsPerNs ? kNeverPs : ns * kPsPerNs;
}
constexpr double seconds(Ps t) { return static_cast<double>(t) / static_cast<double>(kPsPerSecond); }
constexpr double microseconds(Ps t) { return static_cast<double>(t) / 1e6; }

/// How long `bytes` take at `bits_per_second`, rounded up: a link never carries more than its rate.
constexpr Ps serialisation(std::uint64_t bytes, std::uint64_t bits_per_second) {
  __extension__ using Wide = unsigned __int128;
  const Wide bits = static_cast<Wide>(bytes) * 8 * kPsPerSecond;
  return static_cast<Ps>((bits + bits_per_second - 1) / bits_per_second);
}

}  // namespace mrc::sim
