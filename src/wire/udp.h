// UDP: 8 bytes. The source port is half of the EV (all of it over IPv4).
#pragma once

#include "wire/bytes.h"

namespace mrc::wire {

struct Udp {
  static constexpr std::size_t kSize = 8;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint16_t length = 0;  // this header included
  std::uint16_t checksum = 0;
  bool operator==(const Udp&) const = default;
};

class UdpView : public View<Udp::kSize> {
 public:
  using View::View;
  std::uint16_t source_port() const { return u16(0); }
  std::uint16_t destination_port() const { return u16(2); }
  std::uint16_t length() const { return u16(4); }
  std::uint16_t checksum() const { return u16(6); }
  Udp value() const { return {source_port(), destination_port(), length(), checksum()}; }
};

inline void emit(const Udp& h, std::uint8_t* out) {
  store16(out, h.source_port);
  store16(out + 2, h.destination_port);
  store16(out + 4, h.length);
  store16(out + 6, h.checksum);
}

}  // namespace mrc::wire
