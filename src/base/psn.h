// Packet sequence numbers: 24 bits, serial arithmetic. Two PSNs compare only within half the circle.
#pragma once

#include <cstdint>

namespace mrc {

class Psn {
 public:
  static constexpr std::uint32_t kMask = 0xFFFFFF;

  constexpr Psn() = default;
  constexpr explicit Psn(std::uint32_t v) : value_(v & kMask) {}
  constexpr std::uint32_t value() const { return value_; }

  constexpr Psn operator+(std::int32_t n) const { return Psn(value_ + static_cast<std::uint32_t>(n)); }
  constexpr Psn operator-(std::int32_t n) const { return *this + (-n); }
  constexpr Psn& operator++() { return *this = *this + 1; }

  /// Signed distance from `o` to this, in -2^23 .. 2^23-1.
  constexpr std::int32_t operator-(Psn o) const {
    return static_cast<std::int32_t>((value_ - o.value_) << 8) >> 8;
  }
  constexpr bool operator==(const Psn&) const = default;
  constexpr bool before(Psn o) const { return *this - o < 0; }
  constexpr bool after(Psn o) const { return *this - o > 0; }

 private:
  std::uint32_t value_ = 0;
};

/// `p` in (base, base + span]: the receive window's rule.
constexpr bool in_window(Psn p, Psn base, std::int32_t span) {
  const std::int32_t d = p - base;
  return d > 0 && d <= span;
}

}  // namespace mrc
