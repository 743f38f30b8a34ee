// Ethernet II: 14 bytes. VLAN tags are skipped on receipt and never sent.
#pragma once

#include "wire/address.h"
#include "wire/bytes.h"

namespace mrc::wire {

inline constexpr std::uint16_t kEtherIpv4 = 0x0800;
inline constexpr std::uint16_t kEtherIpv6 = 0x86DD;

struct Ethernet {
  static constexpr std::size_t kSize = 14;
  MacAddress destination, source;
  std::uint16_t type = kEtherIpv6;
  bool operator==(const Ethernet&) const = default;
};

class EthernetView : public View<Ethernet::kSize> {
 public:
  using View::View;
  MacAddress destination() const { return mac(0); }
  MacAddress source() const { return mac(6); }
  std::uint16_t type() const { return u16(12); }
  Ethernet value() const { return {destination(), source(), type()}; }

 private:
  MacAddress mac(std::size_t off) const {
    MacAddress m;
    std::memcpy(m.bytes.data(), data() + off, m.bytes.size());
    return m;
  }
};

inline void emit(const Ethernet& e, std::uint8_t* out) {
  std::memcpy(out, e.destination.bytes.data(), 6);
  std::memcpy(out + 6, e.source.bytes.data(), 6);
  store16(out + 12, e.type);
}

constexpr bool is_vlan_tag(std::uint16_t type) { return type == 0x8100 || type == 0x88A8; }

}  // namespace mrc::wire
