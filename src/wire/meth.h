// METH: 4 bytes. Which message, and which immediate, a packet belongs to.
#pragma once

#include "wire/bytes.h"

namespace mrc::wire {

// MRC-WIRE-010: RQMSN, then MSN.
struct Meth {
  static constexpr std::size_t kSize = 4;
  std::uint16_t rqmsn = 0;  // counts writes with immediate
  std::uint16_t msn = 0;    // counts messages
  bool operator==(const Meth&) const = default;
};

class MethView : public View<Meth::kSize> {
 public:
  using View::View;
  std::uint16_t rqmsn() const { return u16(0); }
  std::uint16_t msn() const { return u16(2); }
  Meth value() const { return {rqmsn(), msn()}; }
};

inline void emit(const Meth& h, std::uint8_t* out) {
  store16(out, h.rqmsn);
  store16(out + 2, h.msn);
}

}  // namespace mrc::wire
