// BTH, the base transport header: 12 bytes that open every packet.
#pragma once

#include "wire/bytes.h"
#include "wire/packet.h"
#include "wire/settings.h"

namespace mrc::wire {

struct Bth {
  static constexpr std::size_t kSize = 12;
  Opcode opcode = Opcode::write_only;
  std::uint8_t pad = 0;  // 0 .. 3 bytes between payload and iCRC
  std::uint16_t pkey = 0xFFFF;
  Qpn dqpn;
  Psn psn;
  bool solicited = false;
  bool migration = false;
  bool ack_request = false;
  bool rtx = false;
  bool ts = false;  // a TSETH follows METH
  bool operator==(const Bth&) const = default;
};

class BthView : public View<Bth::kSize> {
 public:
  using View::View;
  std::uint8_t opcode() const { return u8(0); }
  bool solicited(FlagOrder o) const { return (u8(1) >> (o == FlagOrder::ibta ? 7 : 6) & 1) != 0; }
  bool migration(FlagOrder o) const { return (u8(1) >> (o == FlagOrder::ibta ? 6 : 7) & 1) != 0; }
  std::uint8_t pad() const { return u8(1) >> 4 & 3; }
  std::uint8_t tver() const { return u8(1) & 0xF; }
  std::uint16_t pkey() const { return u16(2); }
  Qpn dqpn() const { return Qpn(u24(5)); }
  bool ack_request() const { return (u8(8) & 0x80) != 0; }
  bool rtx() const { return (u8(8) & 0x20) != 0; }
  bool ts() const { return (u8(8) & 0x10) != 0; }
  Psn psn() const { return Psn(u24(9)); }
  Bth value(FlagOrder o) const {
    return {Opcode{opcode()}, pad(),        pkey(),        dqpn(), psn(),
            solicited(o),     migration(o), ack_request(), rtx(),  ts()};
  }
};

inline void emit(const Bth& h, FlagOrder order, std::uint8_t* out) {
  // MRC-WIRE-004: SE is bit 7 and M bit 6, as InfiniBand has them, unless the setting swaps them.
  const unsigned high = order == FlagOrder::ibta ? h.solicited : h.migration;
  const unsigned low = order == FlagOrder::ibta ? h.migration : h.solicited;
  out[0] = static_cast<std::uint8_t>(h.opcode);
  out[1] = static_cast<std::uint8_t>(high << 7 | low << 6 | (h.pad & 3u) << 4);
  store16(out + 2, h.pkey);
  store32(out + 4, h.dqpn.value & 0xFFFFFF);
  store32(out + 8,
          unsigned{h.ack_request} << 31 | unsigned{h.rtx} << 29 | unsigned{h.ts} << 28 | h.psn.value());
}

}  // namespace mrc::wire
