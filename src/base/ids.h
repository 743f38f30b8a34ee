// Names for numbers that must not be mixed up. A strong id costs nothing and refuses the wrong argument.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace mrc {

template <class Tag, class Rep>
struct Id {
  Rep value{};

  constexpr Id() = default;
  constexpr explicit Id(Rep v) : value(v) {}
  constexpr auto operator<=>(const Id&) const = default;
};

using Qpn = Id<struct QpnTag, std::uint32_t>;      // 24 bits on the wire
using Ev = Id<struct EvTag, std::uint32_t>;        // entropy value: names a path
using EvSlot = Id<struct EvSlotTag, std::uint16_t>;  // index of an EV within its QP's set
using PortId = Id<struct PortTag, std::uint8_t>;   // 1-based, as in the API; 0 means none
using RKey = Id<struct RKeyTag, std::uint32_t>;
using Msn = Id<struct MsnTag, std::uint16_t>;      // message sequence number, modulo 2^16

inline constexpr Qpn kEndpointQpn{2};  // endpoint operations are addressed to this QP
inline constexpr int kMaxPorts = 31;   // port_status_mask has 32 bits and bit 0 is unused

/// A set of ports; bit N is port N, as in port_status_mask.
class PortMask {
 public:
  constexpr PortMask() = default;
  constexpr explicit PortMask(std::uint32_t bits) : bits_(bits) {}
  static constexpr PortMask first(int n) { return PortMask(((std::uint64_t{1} << n) - 1) << 1); }

  constexpr bool has(PortId p) const { return (bits_ >> p.value & 1) != 0; }
  constexpr void add(PortId p) { bits_ |= 1u << p.value; }
  constexpr void remove(PortId p) { bits_ &= ~(1u << p.value); }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr std::uint32_t bits() const { return bits_; }
  constexpr bool operator==(const PortMask&) const = default;
  constexpr PortMask operator&(PortMask o) const { return PortMask(bits_ & o.bits_); }
  constexpr PortMask operator|(PortMask o) const { return PortMask(bits_ | o.bits_); }

 private:
  std::uint32_t bits_ = 0;
};

}  // namespace mrc

template <class Tag, class Rep>
struct std::hash<mrc::Id<Tag, Rep>> {
  std::size_t operator()(mrc::Id<Tag, Rep> id) const noexcept { return std::hash<Rep>{}(id.value); }
};
