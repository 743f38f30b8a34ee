// Which process a packet is for. Processes that share a UDP port each have a seat; a QP number's high bits
// name the seat of its process. The kernel applies the rule to the first packet of what it delivers, we apply
// the same rule to every packet.
#pragma once

#include <linux/filter.h>

#include <array>
#include <bit>
#include <cstdint>

#include "base/ids.h"
#include "port/port.h"

namespace mrc::port {

struct Steering {
  std::uint16_t seats = 32;  // a power of two, at most kMaxSeats; all processes of a host must agree

  static constexpr unsigned kMaxSeats = 128;
  static constexpr Qpn kFirstOrdinaryQpn{16};  // below: reserved numbers, endpoint operations among them

  constexpr bool valid() const { return std::has_single_bit(seats) && seats >= 2 && seats <= kMaxSeats; }
  constexpr unsigned shift() const { return 24 - static_cast<unsigned>(std::countr_zero(seats)); }
  /// One place more than there are seats: where packets to reserved QP numbers go.
  constexpr unsigned endpoint_index() const { return seats; }
  constexpr unsigned index_of(Qpn qpn) const {
    return qpn < kFirstOrdinaryQpn ? endpoint_index() : qpn.value >> shift();
  }
  /// A packet too short for a BTH is nobody's: -1.
  constexpr int index_of(const std::byte* bth, std::size_t size) const {
    if (size < 8) return -1;
    return static_cast<int>(
        index_of(Qpn(std::to_integer<std::uint32_t>(bth[5]) << 16 |
                     std::to_integer<std::uint32_t>(bth[6]) << 8 | std::to_integer<std::uint32_t>(bth[7]))));
  }
  constexpr QpnRange qpns_of(unsigned seat) const {
    const std::uint32_t first = seat << shift();
    return {.first = seat == 0 ? kFirstOrdinaryQpn : Qpn(first), .last = Qpn(first + (1u << shift()) - 1)};
  }
  /// The same rule for the kernel (classic BPF over the UDP payload): gives the place in the group of
  /// sockets.
  std::array<sock_filter, 6> program() const;
};

}  // namespace mrc::port
