// The internet checksum (RFC 1071), for IPv4 headers and for UDP over either IP version.
#pragma once

#include <cstdint>

#include "wire/address.h"
#include "wire/bytes.h"

namespace mrc::wire {

/// Adds up pieces as if they stood in one row; a piece may begin at an odd place.
class Checksum {
 public:
  void add(Bytes piece);
  void add16(std::uint16_t v) { sum_ += v; }
  /// Adds the pseudo-header of UDP: addresses, length and protocol number.
  void add_udp_pseudo(const IpAddress& source, const IpAddress& destination, std::uint32_t udp_length);
  /// The ones' complement sum, folded; 0xFFFF when everything, its own checksum included, adds up.
  std::uint16_t sum() const;
  /// What goes into the checksum field.
  std::uint16_t value() const { return static_cast<std::uint16_t>(~sum()); }

 private:
  std::uint64_t sum_ = 0;
  bool odd_ = false;
};

}  // namespace mrc::wire
