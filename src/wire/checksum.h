// The internet checksum (RFC 1071), for IPv4 headers and for UDP over either IP version.
#pragma once

#include <cstdint>

#include "wire/address.h"
#include "wire/bytes.h"

namespace mrc::wire {

/// Adds up pieces as if they stood in one row; a piece may begin at an odd place.
///
/// The sum does not care about byte order (RFC 1071, 2B): it adds words as the machine loads them and swaps
/// once, at the end. 64 bits hold the sum of more 32-bit words than any packet has.
class Checksum {
 public:
  void add(Bytes piece);
  /// The 20 bytes of an IPv4 header.
  void add_ipv4(const std::uint8_t* header) {
    for (int i = 0; i < 20; i += 4) sum_ += native32(header + i);
  }
  /// Adds the pseudo-header of UDP: addresses, length and protocol number.
  void add_udp_pseudo(const IpAddress& source, const IpAddress& destination, std::uint32_t udp_length);
  /// The ones' complement sum, folded; 0xFFFF when everything, its own checksum included, adds up.
  std::uint16_t sum() const { return __builtin_bswap16(fold(sum_)); }
  /// What goes into the checksum field.
  std::uint16_t value() const { return static_cast<std::uint16_t>(~sum()); }

 private:
  static std::uint32_t native32(const std::uint8_t* p) {
    std::uint32_t v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  static std::uint16_t fold(std::uint64_t sum) {
    sum = (sum & 0xFFFFFFFF) + (sum >> 32);
    sum = (sum & 0xFFFFFFFF) + (sum >> 32);
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<std::uint16_t>(sum);
  }
  static std::uint64_t native_sum(const std::uint8_t* p, std::size_t n);

  std::uint64_t sum_ = 0;
  bool odd_ = false;
};

}  // namespace mrc::wire
