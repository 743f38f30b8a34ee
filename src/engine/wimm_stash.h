// Immediates that arrived before their turn. A write may be placed in any order; its receive completion may
// not.
#pragma once

#include <bit>
#include <cstdint>

#include "base/fixed_array.h"
#include "base/psn.h"

namespace mrc::engine {

struct Immediate {
  std::uint32_t psn : 24 = 0;  // of the packet that ends its message
  std::uint32_t solicited : 1 = 0;
  std::uint32_t present : 1 = 0;
  std::uint32_t imm = 0;
  std::uint32_t length = 0;
};
static_assert(sizeof(Immediate) == 12);

class WimmStash {
 public:
  explicit WimmStash(std::uint16_t limit) : ring_(std::bit_ceil(unsigned{limit})), limit_(limit) {}

  /// Within the agreed number in flight?
  bool accepts(std::uint16_t rqmsn) const { return static_cast<std::uint16_t>(rqmsn - next_) < limit_; }
  /// REQUIRES accepts(rqmsn).
  void put(std::uint16_t rqmsn, const Immediate& i) {
    ring_[rqmsn & (ring_.size() - 1)] = i;
    ring_[rqmsn & (ring_.size() - 1)].present = 1;
  }
  /// The next in send order, if it has arrived and everything up to `cack` covers it.
  const Immediate* ready(Psn cack) const {
    const Immediate& i = ring_[next_ & (ring_.size() - 1)];
    return i.present && !Psn(i.psn).after(cack) ? &i : nullptr;
  }
  void pop() { ring_[next_++ & (ring_.size() - 1)].present = 0; }
  std::size_t bytes() const { return ring_.bytes(); }

 private:
  FixedArray<Immediate> ring_;  // a power of two, so that RQMSN may wrap
  std::uint16_t limit_;
  std::uint16_t next_ = 0;  // RQMSN that completes next
};

}  // namespace mrc::engine
