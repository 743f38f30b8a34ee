// Which process a packet is for. Processes that share a UDP port each have a seat; a QP number's high bits
// name the seat of its process, and so do those of the id that an answer to an endpoint request echoes. The
// kernel applies the rule to the first packet of what it delivers, we apply the same rule to every packet.
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
  /// Ids of the endpoint requests that a seat sends: answers echo them, and are steered by them.
  struct RequestIds {
    std::uint16_t first, mask;
  };
  constexpr RequestIds request_ids_of(unsigned seat) const {
    return {static_cast<std::uint16_t>(seat << id_shift()),
            static_cast<std::uint16_t>((1u << id_shift()) - 1)};
  }
  constexpr unsigned id_shift() const { return 16 - static_cast<unsigned>(std::countr_zero(seats)); }
  /// Whether every process must hear of it: a peer tells which of its ports are up.
  static constexpr bool concerns_all(const std::byte* bth, std::size_t size) {
    return size >= kBthBytes + 2 && bth[0] == kEndpointRequest &&
           (bth[kBthBytes + 1] & std::byte{3}) == std::byte{0};
  }
  /// A packet too short for a BTH is nobody's: -1.
  constexpr int index_of(const std::byte* bth, std::size_t size) const {
    if (size < 8) return -1;
    if (size >= kBthBytes && bth[0] == kEndpointResponse && bth[5] == std::byte{0} &&
        bth[6] == std::byte{0} && std::to_integer<std::uint32_t>(bth[7]) < kFirstOrdinaryQpn.value) {
      const auto id = std::to_integer<unsigned>(bth[10]) << 8 | std::to_integer<unsigned>(bth[11]);
      return static_cast<int>(id >> id_shift());
    }
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
  std::array<sock_filter, 11> program() const;

 private:
  static constexpr std::size_t kBthBytes = 12;
  static constexpr std::byte kEndpointRequest{0xD8}, kEndpointResponse{0xD9};
};

}  // namespace mrc::port
