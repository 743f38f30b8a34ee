// SETH with CC_STATE: 28 + 8 bytes, the body of a SACK.
#pragma once

#include "wire/bytes.h"
#include "wire/packet.h"
#include "wire/verdict.h"

namespace mrc::wire {

// MRC-WIRE-022: the layout of SETH and CC_STATE.
class SethView : public View<36> {
 public:
  using View::View;
  std::uint8_t type() const { return u8(0) >> 4; }
  std::uint8_t next() const { return u16(0) >> 7 & 0x1F; }
  std::uint8_t mark() const { return u16(0) >> 5 & 3; }
  bool probe_reply() const { return (u16(0) & 2) != 0; }
  Psn cack_psn() const { return Psn(u24(13)); }
  std::uint8_t cc_type() const { return u8(16) >> 4; }
  /// Another type, or another congestion control, would lay out these bytes differently.
  Verdict check() const {
    const bool known = type() == 0 && next() == 0 && cc_type() == 0 && mark() <= 2;
    return known ? Verdict::ok : Verdict::bad_field;
  }
  Sack value() const {
    Sack s;
    s.bitmap = u64(20);
    s.entropy = Ev(u32(4));
    s.cack_psn = cack_psn();
    s.rcvd_bytes = u24(33);
    s.ack_psn_offset = static_cast<std::int16_t>(u16(2));
    s.sack_offset = static_cast<std::int16_t>(u16(18));
    s.spdcid = u16(8);
    s.dpdcid = u16(10);
    s.echo = {u16(28)};
    s.ooo_count = u16(30) & 0x7FFF;
    s.mpr = u8(17);
    s.rcv_cwnd_pen = u8(32) & 0x7F;
    s.mark = SackMark{mark()};
    s.probe_reply = probe_reply();
    s.restore_cwnd = (u8(32) & 0x80) != 0;
    return s;
  }
};

inline void emit(const Sack& s, std::uint8_t* out) {
  store16(out, static_cast<std::uint16_t>((static_cast<unsigned>(s.mark) & 3) << 5 | unsigned{s.probe_reply}
                                                                                         << 1));
  store16(out + 2, static_cast<std::uint16_t>(s.ack_psn_offset));
  store32(out + 4, s.entropy.value);
  store16(out + 8, s.spdcid);
  store16(out + 10, s.dpdcid);
  store32(out + 12, s.cack_psn.value());
  out[16] = 0;  // cc_type NSCC, no flags
  out[17] = s.mpr;
  store16(out + 18, static_cast<std::uint16_t>(s.sack_offset));
  store64(out + 20, s.bitmap);
  store16(out + 28, s.echo.ticks);
  store16(out + 30, s.ooo_count & 0x7FFF);
  store32(out + 32,
          unsigned{s.restore_cwnd} << 31 | (s.rcv_cwnd_pen & 0x7Fu) << 24 | (s.rcvd_bytes & 0xFFFFFF));
}

}  // namespace mrc::wire
