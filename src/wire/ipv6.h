// IPv6: 40 bytes. Outer header in SRv6 mode, and the header that carries UDP.
#pragma once

#include "wire/address.h"
#include "wire/bytes.h"

namespace mrc::wire {

inline constexpr std::uint8_t kNextUdp = 17;
inline constexpr std::uint8_t kNextIpv6 = 41;
inline constexpr std::uint8_t kNextRouting = 43;
inline constexpr std::uint8_t kNextFragment = 44;

struct Ipv6 {
  static constexpr std::size_t kSize = 40;
  IpAddress source, destination;
  std::uint32_t flow_label = 0;  // 20 bits
  std::uint16_t payload_length = 0;
  std::uint8_t traffic_class = 0;  // DSCP (7:2), ECN (1:0)
  std::uint8_t next_header = kNextUdp;
  std::uint8_t hop_limit = 64;
  bool operator==(const Ipv6&) const = default;
};

class Ipv6View : public View<Ipv6::kSize> {
 public:
  using View::View;
  std::uint8_t version() const { return u8(0) >> 4; }
  std::uint8_t traffic_class() const { return static_cast<std::uint8_t>(u16(0) >> 4); }
  std::uint32_t flow_label() const { return u32(0) & 0xFFFFF; }
  std::uint16_t payload_length() const { return u16(4); }
  std::uint8_t next_header() const { return u8(6); }
  std::uint8_t hop_limit() const { return u8(7); }
  IpAddress source() const { return IpAddress::v6_from(data() + 8); }
  IpAddress destination() const { return IpAddress::v6_from(data() + 24); }
  Ipv6 value() const {
    return {source(),        destination(), flow_label(), payload_length(),
            traffic_class(), next_header(), hop_limit()};
  }
};

inline void emit(const Ipv6& h, std::uint8_t* out) {
  store32(out, 6u << 28 | std::uint32_t{h.traffic_class} << 20 | (h.flow_label & 0xFFFFF));
  store16(out + 4, h.payload_length);
  out[6] = h.next_header;
  out[7] = h.hop_limit;
  std::memcpy(out + 8, h.source.bytes.data(), 16);
  std::memcpy(out + 24, h.destination.bytes.data(), 16);
}

}  // namespace mrc::wire
