// EETH: 36 bytes, the body of an Endpoint Response. Nearly all reserved: it is as long as a SACK on purpose.
#pragma once

#include "wire/bytes.h"
#include "wire/packet.h"
#include "wire/settings.h"
#include "wire/verdict.h"

namespace mrc::wire {

// MRC-WIRE-026: the operation of a response is in bits 3:2, by setting.
class EethView : public View<36> {
 public:
  using View::View;
  std::uint8_t op(const Settings& settings) const {
    return u16(0) >> settings.endpoint_response_op_shift & 3;
  }
  Timestamp timestamp() const { return {u16(28)}; }
  Verdict check(const Settings& settings) const {
    return op(settings) <= 1 ? Verdict::ok : Verdict::bad_field;
  }
  EndpointResponse value(const Settings& settings) const { return {EndpointOp{op(settings)}, timestamp()}; }
};

inline void emit(const EndpointResponse& r, const Settings& settings, std::uint8_t* out) {
  std::memset(out, 0, EethView::kSize);
  store16(out,
          static_cast<std::uint16_t>(static_cast<unsigned>(r.op) << settings.endpoint_response_op_shift));
  store16(out + 28, r.timestamp.ticks);
}

}  // namespace mrc::wire
