// The uSID plan: 16 bits by structure, so that who it names can be read off it and a switch's table is a few
// ranges.
//
//   01 | plane | index   14 bits  T0, index through the plane
//   10 | plane | index   14 bits  T1
//   110| plane | index   13 bits  T2
//   111| plane | number  13 bits  a T0's downlink: the destination, local to the T0 (0xE000.. is where uSID
//   plans keep local ids) 00                            free: 0x0000 ends a carrier
// The plane field is as wide as the fabric's planes need; the rest of the bits is index.
#pragma once

#include <optional>

#include "topo/ids.h"

namespace mrc::topo {

/// What a uSID names. For Tier::host, `index` is the downlink number, which only the T0 can turn into a host.
struct UsidName {
  Tier tier = Tier::t0;
  Plane plane = 0;
  std::uint32_t index = 0;
  constexpr bool operator==(const UsidName&) const = default;
};

class UsidPlan {
 public:
  constexpr explicit UsidPlan(std::uint32_t planes) {
    while ((1u << plane_bits_) < planes) ++plane_bits_;
  }

  constexpr int plane_bits() const { return plane_bits_; }
  constexpr int index_bits(Tier t) const { return free_bits(t) - plane_bits_; }
  /// How many nodes of a tier one plane can name (for Tier::host: downlinks of one T0).
  constexpr std::uint32_t capacity(Tier t) const { return index_bits(t) < 0 ? 0 : 1u << index_bits(t); }

  /// REQUIRES: name.index < capacity(name.tier).
  constexpr Usid usid(const UsidName& name) const {
    return Usid(
        static_cast<std::uint16_t>(prefix(name.tier) | name.plane << index_bits(name.tier) | name.index));
  }
  constexpr std::optional<UsidName> name(Usid u) const {
    const auto tier = tier_of(u);
    if (!tier) return std::nullopt;
    const std::uint32_t bits = u.value & ((1u << free_bits(*tier)) - 1);
    const std::uint32_t index_mask = (1u << index_bits(*tier)) - 1;
    return UsidName{*tier, bits >> index_bits(*tier), bits & index_mask};
  }

 private:
  static constexpr int free_bits(Tier t) { return t == Tier::t0 || t == Tier::t1 ? 14 : 13; }
  static constexpr std::uint32_t prefix(Tier t) {
    constexpr std::uint32_t kPrefix[] = {0xE000, 0x4000, 0x8000, 0xC000};
    return kPrefix[static_cast<int>(t)];
  }
  static constexpr std::optional<Tier> tier_of(Usid u) {
    switch (u.value >> 13) {
      case 0:
      case 1: return std::nullopt;
      case 2:
      case 3: return Tier::t0;
      case 4:
      case 5: return Tier::t1;
      case 6: return Tier::t2;
      default: return Tier::host;
    }
  }

  int plane_bits_ = 0;
};

}  // namespace mrc::topo
