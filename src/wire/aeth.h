// AETH: 4 bytes, the body of a Transport ACK: syndrome and message number.
#pragma once

#include "wire/bytes.h"
#include "wire/packet.h"
#include "wire/verdict.h"

namespace mrc::wire {

class AethView : public View<4> {
 public:
  using View::View;
  std::uint8_t syndrome() const { return u8(0); }
  bool is_ack() const { return (syndrome() & 0xE0) == 0; }  // the credits below are not used
  std::uint32_t msn() const { return u24(1); }
  /// MRC-WIRE-027: MRC has no RNR, and loss is the reliability layer's business: only the three NAKs below
  /// are left.
  Verdict check() const {
    const bool nak = syndrome() >= static_cast<std::uint8_t>(Syndrome::invalid_request) &&
                     syndrome() <= static_cast<std::uint8_t>(Syndrome::remote_operational_error);
    return is_ack() || nak ? Verdict::ok : Verdict::bad_field;
  }
  TransportAck value() const { return {msn(), is_ack() ? Syndrome::ack : Syndrome{syndrome()}}; }
};

inline void emit(const TransportAck& a, std::uint8_t* out) {
  store32(out, std::uint32_t{static_cast<std::uint8_t>(a.syndrome)} << 24 | (a.msn & 0xFFFFFF));
}

}  // namespace mrc::wire
