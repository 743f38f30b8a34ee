// ERTH: 16 bytes, the body of an Endpoint Request.
#pragma once

#include "wire/bytes.h"
#include "wire/packet.h"
#include "wire/tseth.h"

namespace mrc::wire {

// MRC-WIRE-026: the operation of a request is in bits 1:0.
class ErthView : public View<16> {
 public:
  using View::View;
  std::uint8_t op() const { return u16(0) & 3; }
  PortMask port_status() const { return PortMask(u32(4)); }
  TsethView stamp() const { return TsethView({data() + 12, 4}); }
  Verdict check() const { return op() <= 1 ? stamp().check() : Verdict::bad_field; }
  EndpointRequest value() const { return {EndpointOp{op()}, port_status(), stamp().timestamp(), u8(3)}; }
};

inline void emit(const EndpointRequest& r, std::uint8_t* out) {
  store16(out, static_cast<std::uint16_t>(r.op));
  out[2] = 0;
  out[3] = r.vendor;
  store32(out + 4, r.port_status.bits());
  store32(out + 8, 0);
  emit(r.timestamp, out + 12);
}

}  // namespace mrc::wire
