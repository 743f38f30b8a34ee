// IPv4: 20 bytes. MRC packets carry no options and are never fragmented.
#pragma once

#include "wire/address.h"
#include "wire/bytes.h"
#include "wire/checksum.h"

namespace mrc::wire {

inline constexpr std::uint8_t kProtocolUdp = 17;
inline constexpr std::uint16_t kDontFragment = 0x4000;

struct Ipv4 {
  static constexpr std::size_t kSize = 20;
  IpAddress source, destination;
  std::uint16_t total_length = 0;
  std::uint16_t id = 0;
  std::uint16_t fragment = kDontFragment;  // flags and offset
  std::uint8_t tos = 0;                    // DSCP (7:2), ECN (1:0)
  std::uint8_t ttl = 64;
  std::uint8_t protocol = kProtocolUdp;
  bool operator==(const Ipv4&) const = default;
};

class Ipv4View : public View<Ipv4::kSize> {
 public:
  using View::View;
  std::uint8_t version() const { return u8(0) >> 4; }
  std::uint8_t header_words() const { return u8(0) & 0xF; }
  std::uint8_t tos() const { return u8(1); }
  std::uint16_t total_length() const { return u16(2); }
  std::uint16_t id() const { return u16(4); }
  std::uint16_t fragment() const { return u16(6); }
  bool is_fragment() const { return (fragment() & 0x3FFF) != 0; }  // more fragments, or an offset
  std::uint8_t ttl() const { return u8(8); }
  std::uint8_t protocol() const { return u8(9); }
  IpAddress source() const { return IpAddress::v4_from(data() + 12); }
  IpAddress destination() const { return IpAddress::v4_from(data() + 16); }
  bool checksum_ok() const {
    Checksum c;
    c.add_ipv4(data());
    return c.sum() == 0xFFFF;
  }
  Ipv4 value() const {
    return {source(), destination(), total_length(), id(), fragment(), tos(), ttl(), protocol()};
  }
};

inline void store_ipv4_checksum(std::uint8_t* header) {
  store16(header + 10, 0);
  Checksum c;
  c.add_ipv4(header);
  store16(header + 10, c.value());
}

inline void emit(const Ipv4& h, std::uint8_t* out) {
  out[0] = 0x45;
  out[1] = h.tos;
  store16(out + 2, h.total_length);
  store16(out + 4, h.id);
  store16(out + 6, h.fragment);
  out[8] = h.ttl;
  out[9] = h.protocol;
  std::memcpy(out + 12, h.source.v4_bytes(), 4);
  std::memcpy(out + 16, h.destination.v4_bytes(), 4);
  store_ipv4_checksum(out);
}

}  // namespace mrc::wire
