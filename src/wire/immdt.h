// ImmDt: 4 bytes of immediate data, delivered in the receive completion.
#pragma once

#include "wire/bytes.h"

namespace mrc::wire {

struct ImmDt {
  static constexpr std::size_t kSize = 4;
  std::uint32_t imm = 0;
  bool operator==(const ImmDt&) const = default;
};

// MRC-WIRE-014: between RETH and payload, in the two opcodes with immediate.
class ImmDtView : public View<ImmDt::kSize> {
 public:
  using View::View;
  std::uint32_t imm() const { return u32(0); }
  ImmDt value() const { return {imm()}; }
};

inline void emit(const ImmDt& h, std::uint8_t* out) { store32(out, h.imm); }

}  // namespace mrc::wire
