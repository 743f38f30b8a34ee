// What a requestor knows about each EV from what came back: how long an acknowledgement takes on it, and the
// newest of its packets that is known to have arrived. Both feed loss inference.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/fixed_array.h"
#include "base/ids.h"
#include "base/time.h"
#include "engine/record_pool.h"

namespace mrc::engine {

class PathClock {
 public:
  PathClock(std::size_t evs, Duration initial) : arrived_(evs), delay_(evs), longest_(initial) {}

  /// About to send on this EV: keeps an EV unused for 2^30 packets from looking newer than what is sent now.
  void note_sent(EvSlot s, TxOrder order) {
    TxOrder& newest = arrived_[s.value];
    if (order.distance(newest) > kFarBehind) newest = order.previous();
  }
  void note_arrived(EvSlot s, TxOrder order) {
    TxOrder& newest = arrived_[s.value];
    if (order.after(newest)) newest = order;
  }
  /// Packets of one EV stay in order: one that left before the newest arrival, and is missing, is gone.
  bool overtaken(EvSlot s, TxOrder order) const { return arrived_[s.value].after(order); }

  void note_delay(EvSlot s, Duration sample) {
    const std::int64_t units = std::min<std::int64_t>(sample.count() / kUnit + 1, UINT16_MAX);
    std::uint16_t& d = delay_[s.value];
    d = static_cast<std::uint16_t>(units >= d ? units : d - (d - units) / 8);
    longest_ = !heard_ || sample > longest_ ? sample : longest_ - (longest_ - sample) / 32;
    heard_ = true;
  }
  /// How long the acknowledgement of a packet on this EV takes: a decaying maximum. An EV never heard of gets
  /// twice the longest of the others.
  Duration delay(EvSlot s) const {
    const std::uint16_t d = delay_[s.value];
    return d == 0 ? 2 * longest_ : Duration(std::int64_t{d} * kUnit);
  }
  Duration longest() const { return longest_; }
  std::size_t bytes() const { return arrived_.bytes() + delay_.bytes(); }

 private:
  static constexpr std::uint32_t kFarBehind = 1u << 30;
  static constexpr std::int64_t kUnit = 256;  // ns
  FixedArray<TxOrder> arrived_;
  FixedArray<std::uint16_t> delay_;
  Duration longest_;
  bool heard_ = false;
};

}  // namespace mrc::engine
