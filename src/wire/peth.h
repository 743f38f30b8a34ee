// PETH: 16 bytes, the body of a Reliability Probe.
#pragma once

#include "wire/bytes.h"
#include "wire/packet.h"
#include "wire/settings.h"
#include "wire/tseth.h"

namespace mrc::wire {

// MRC-WIRE-025: the layout of PETH.
class PethView : public View<16> {
 public:
  using View::View;
  std::uint16_t type() const { return u16(0); }
  std::uint16_t probe_id() const { return u16(4); }
  TsethView stamp() const { return TsethView({data() + 12, 4}); }
  Verdict check() const { return stamp().check(); }
  Probe value() const { return {probe_id(), u16(8), u16(10), stamp().timestamp(), u8(3)}; }
};

inline void emit(const Probe& p, const Settings& settings, std::uint8_t* out) {
  store16(out, settings.probe_type);
  out[2] = 0;
  out[3] = p.vendor;
  store16(out + 4, p.probe_id);
  store16(out + 6, 0);
  store16(out + 8, p.spdcid);
  store16(out + 10, p.dpdcid);
  emit(p.timestamp, out + 12);
}

}  // namespace mrc::wire
