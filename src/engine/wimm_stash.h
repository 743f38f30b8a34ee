// Immediates that arrived before their turn. A write may be placed in any order; its receive completion may
// not.
#pragma once

#include <bit>
#include <cstdint>

#include "base/fixed_array.h"
#include "base/psn.h"

namespace mrc::engine {

/// A window has 2^14 PSNs at most, and no more messages: low bits tell them apart.
struct Immediate {
  static constexpr std::uint32_t kMsnMask = 0x3FFF;
  std::uint32_t psn : 16 = 0;  // of the packet that ends its message
  std::uint32_t msn : 14 = 0;  // of its message
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
    Immediate& place = ring_[rqmsn & (ring_.size() - 1)];
    held_ += place.present == 0;
    place = i;
    place.present = 1;
  }
  /// The next in send order, if it has arrived and everything up to `cack` covers it.
  const Immediate* ready(Psn cack) const {
    if (held_ == 0) return nullptr;  // without a look at memory that is far away when there are many QPs
    const Immediate& i = ring_[next_ & (ring_.size() - 1)];
    const auto ahead = static_cast<std::int16_t>(i.psn - cack.value());
    return i.present && ahead <= 0 ? &i : nullptr;
  }
  /// REQUIRES: ready() had one.
  void pop() {
    ring_[next_++ & (ring_.size() - 1)].present = 0;
    --held_;
  }
  std::size_t bytes() const { return ring_.bytes(); }

 private:
  FixedArray<Immediate> ring_;  // a power of two, so that RQMSN may wrap
  std::uint16_t limit_;
  std::uint16_t next_ = 0;  // RQMSN that completes next
  std::uint16_t held_ = 0;  // immediates that are here
};

}  // namespace mrc::engine
