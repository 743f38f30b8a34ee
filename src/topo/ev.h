// EVs as compressed paths: plane, T0 uplink and T1 uplink packed into the bits that a packet carries for an
// echo.
//
//   path bits = plane . uplink0 . uplink1, each field as wide as the fabric needs
//   EV        = (path bits >> 14) << 16 | 0xC000 | (path bits & 0x3FFF)
//
// The low half is the UDP source port, so it stays in the dynamic range 0xC000 .. 0xFFFF that an ordinary
// user may bind and that no service owns; path bits beyond 14 (no two-tier fabric has them) go to the flow
// label.
#pragma once

#include <cstdint>
#include <optional>

#include "topo/ids.h"

namespace mrc::topo {

inline constexpr int kEvPortBits = 14;
inline constexpr std::uint32_t kEvPortBase = 0xC000;
inline constexpr int kMaxPathBits = kEvPortBits + 16;

constexpr Ev ev_of_path_bits(std::uint32_t bits) {
  return Ev(bits >> kEvPortBits << 16 | kEvPortBase | (bits & ((1u << kEvPortBits) - 1)));
}
/// Nothing when the EV is not one of a topology: its source port lies outside the dynamic range.
constexpr std::optional<std::uint32_t> path_bits_of(Ev ev) {
  if ((ev.value & kEvPortBase) != kEvPortBase) return std::nullopt;
  return ev.value >> 16 << kEvPortBits | (ev.value & ((1u << kEvPortBits) - 1));
}

/// A set of EVs with the shape that faults have: one plane or none, one uplink or all, at each tier.
class EvSet {
 public:
  static constexpr EvSet none() { return EvSet(); }
  static constexpr EvSet of_plane(Plane p) { return EvSet(p, kAny, kAny); }
  static constexpr EvSet of_uplink(Plane p, std::uint32_t uplink0) { return EvSet(p, uplink0, kAny); }
  static constexpr EvSet of_uplinks(Plane p, std::uint32_t uplink0, std::uint32_t uplink1) {
    return EvSet(p, uplink0, uplink1);
  }

  constexpr bool empty() const { return !some_; }
  constexpr bool contains(const Choice& c) const {
    return some_ && c.plane == plane_ && (uplink0_ == kAny || c.uplink0 == uplink0_) &&
           (uplink1_ == kAny || c.uplink1 == uplink1_);
  }
  /// The one plane whose EVs the set holds; empty() is false.
  constexpr Plane plane() const { return plane_; }
  /// The one uplink at that tier, or nothing when all of them are in.
  constexpr std::optional<std::uint32_t> uplink0() const { return fixed(uplink0_); }
  constexpr std::optional<std::uint32_t> uplink1() const { return fixed(uplink1_); }
  constexpr bool operator==(const EvSet&) const = default;

 private:
  static constexpr std::uint32_t kAny = UINT32_MAX;
  constexpr EvSet() = default;
  constexpr EvSet(Plane p, std::uint32_t u0, std::uint32_t u1)
      : some_(true), plane_(p), uplink0_(u0), uplink1_(u1) {}
  static constexpr std::optional<std::uint32_t> fixed(std::uint32_t u) {
    return u == kAny ? std::nullopt : std::optional(u);
  }

  bool some_ = false;
  Plane plane_ = 0;
  std::uint32_t uplink0_ = kAny;
  std::uint32_t uplink1_ = kAny;
};

}  // namespace mrc::topo
