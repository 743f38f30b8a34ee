// NETH: 20 bytes, the body of a NACK.
#pragma once

#include "wire/bytes.h"
#include "wire/packet.h"
#include "wire/settings.h"
#include "wire/verdict.h"

namespace mrc::wire {

constexpr bool is_known(NackReason reason) {
  switch (reason) {
    case NackReason::trimmed:
    case NackReason::trimmed_lasthop:
    case NackReason::no_bitmap:
    case NackReason::no_pkt_buffer:
    case NackReason::no_resource:
    case NackReason::psn_oor_window:
    case NackReason::unexp_event: return true;
  }
  return false;
}

// MRC-WIRE-023: the layout of NETH; a reason that we do not know is refused.
class NethView : public View<20> {
 public:
  using View::View;
  std::uint16_t type() const { return u16(0); }
  NackReason reason() const { return NackReason{u8(2)}; }
  Psn nack_psn() const { return Psn(u24(13)); }
  std::uint8_t cc_type() const { return u8(16) >> 4; }
  Verdict check() const { return is_known(reason()) ? Verdict::ok : Verdict::bad_field; }
  Nack value() const {
    return {Ev(u32(4)), nack_psn(), u16(8), u16(10), Timestamp{u16(18)}, reason(), u8(3)};
  }
};

inline void emit(const Nack& n, const Settings& settings, std::uint8_t* out) {
  store16(out, settings.nack_type);
  out[2] = static_cast<std::uint8_t>(n.reason);
  out[3] = n.vendor;
  store32(out + 4, n.entropy.value);
  store16(out + 8, n.spdcid);
  store16(out + 10, n.dpdcid);
  store32(out + 12, n.nack_psn.value());
  out[16] = static_cast<std::uint8_t>(settings.nack_cc_type << 4);
  out[17] = 0;
  store16(out + 18, n.echo.ticks);
}

}  // namespace mrc::wire
