// TSETH: 4 bytes. When the packet left; PETH and ERTH end with the same four bytes.
#pragma once

#include "wire/bytes.h"
#include "wire/packet.h"
#include "wire/verdict.h"

namespace mrc::wire {

inline constexpr std::uint16_t kTimestampFormat = 1;  // ftype 1, tsr 0: 128 ns ticks

class TsethView : public View<4> {
 public:
  using View::View;
  Timestamp timestamp() const { return {u16(0)}; }
  bool coarse() const { return (u16(2) & 0x8000) != 0; }  // tsr
  std::uint8_t ftype() const { return u16(2) & 0xF; }
  /// MRC-WIRE-013: ticks of another length, or another format, can't be compared with ours.
  Verdict check() const { return coarse() || ftype() != kTimestampFormat ? Verdict::bad_field : Verdict::ok; }
  Timestamp value() const { return timestamp(); }
};

inline void emit(const Timestamp& t, std::uint8_t* out) {
  store16(out, t.ticks);
  store16(out + 2, kTimestampFormat);
}

}  // namespace mrc::wire
