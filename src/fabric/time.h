// Time as the fabric counts it: integer picoseconds, because a byte at 800 Gb/s takes ten of them.
#pragma once

#include <chrono>
#include <cstdint>

namespace mrc::fabric {

using PsDuration = std::chrono::duration<std::int64_t, std::pico>;

/// Like the engine's clock it has no now(): time is an argument.
struct FabricClock {
  using rep = std::int64_t;
  using period = std::pico;
  using duration = PsDuration;
  using time_point = std::chrono::time_point<FabricClock, PsDuration>;
};
using PsTime = FabricClock::time_point;

/// A rate, kept as the time that a byte takes, in 1/256 ps: exact for every Ethernet speed, one
/// multiplication per frame. 1 Mb/s to 100 Tb/s.
class Rate {
 public:
  constexpr Rate() = default;
  static constexpr Rate bits_per_second(std::uint64_t bits) {
    return Rate(static_cast<std::uint32_t>((kPsPerSecond * 8 * kScale + bits / 2) / bits));
  }
  /// A wire that takes no time: where something else limits the rate.
  static constexpr Rate unlimited() { return Rate(0); }
  constexpr bool is_unlimited() const { return scaled_ps_per_byte_ == 0; }
  constexpr PsDuration time_for(std::uint32_t bytes) const {
    return PsDuration(static_cast<std::int64_t>(std::uint64_t{bytes} * scaled_ps_per_byte_ / kScale));
  }
  /// REQUIRES: not unlimited.
  constexpr std::uint64_t bits_per_second() const { return kPsPerSecond * 8 * kScale / scaled_ps_per_byte_; }
  constexpr bool operator==(const Rate&) const = default;

 private:
  static constexpr std::uint64_t kPsPerSecond = 1'000'000'000'000;
  static constexpr std::uint64_t kScale = 256;
  constexpr explicit Rate(std::uint32_t scaled) : scaled_ps_per_byte_(scaled) {}

  std::uint32_t scaled_ps_per_byte_ = 80 * kScale;  // 100 Gb/s
};

}  // namespace mrc::fabric
