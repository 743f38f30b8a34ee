// What a requestor knows about each EV from what came back: how long an acknowledgement takes on it, and the
// newest of its packets that is known to have arrived. Both feed loss inference.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/fixed_array.h"
#include "base/ids.h"
#include "base/time.h"
#include "engine/record_pool.h"

namespace mrc::engine {

class PathClock {
 public:
  PathClock(std::size_t evs, Duration initial) : arrived_(evs), delay_(evs), recent_{0, as_ns(initial)} {}

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

  void note_delay(Time now, EvSlot s, Duration sample) {
    note_own_delay(s, sample);
    if (!measured_) {
      recent_[1] = 0;
      window_began_ = coarse(now);
      measured_ = true;
    }
    recent_[0] = std::max(recent_[0], as_ns(sample));
    const bool lasted = samples_ >= kFew && age(now) > kRounds * longest();
    samples_ = (samples_ + 1) & 0x7FF;
    if (samples_ < kWindow && !lasted) return;
    recent_[1] = recent_[0];
    recent_[0] = 0;
    window_began_ = coarse(now);
    samples_ = 0;
    if (windows_ < kMostWindows) windows_ = (windows_ + 1) & kMostWindows;
  }
  /// A sample that says something about this EV alone.
  void note_own_delay(EvSlot s, Duration sample) {
    std::uint8_t& d = delay_[s.value];
    const std::uint8_t code = encode(sample);
    d = code >= d ? code : static_cast<std::uint8_t>(d - 1);
  }
  /// How long the acknowledgement of a packet on this EV takes: a decaying maximum. An EV never heard of may
  /// take twice the longest of the others; one that was slow once, and not used since, no more.
  Duration delay(EvSlot s) const {
    return heard_of(s) ? std::min(decode(delay_[s.value]), 2 * longest()) : 2 * longest();
  }
  bool heard_of(EvSlot s) const { return delay_[s.value] != 0; }
  /// The longest of the last one to two windows, over all EVs: answers come back by any path. A window has
  /// many samples, or few and has lasted long: one late answer must not make a thin stream wait for seconds.
  Duration longest() const { return Duration(std::max(recent_[0], recent_[1])); }
  /// Every answer, of whatever EV, moves what is typical by a little toward itself: the median, near enough.
  /// A few slow paths do not change it, and when all queues grow it follows.
  void note_age(Duration age) {
    const std::uint32_t ns = std::max(as_ns(age), 1u);
    if (typical_ == 0) typical_ = ns;
    const std::uint32_t step = typical_ / kTypicalStep + 1;
    typical_ =
        ns > typical_ ? std::min(ns, typical_ + step) : std::max(ns, typical_ - std::min(step, typical_));
  }
  Duration typical() const { return Duration(typical_); }
  /// A round trip, measured: for those who look on.
  void note_rtt(Duration sample) {
    const auto ns = static_cast<std::int64_t>(std::clamp<std::int64_t>(sample.count(), 1, UINT32_MAX));
    smoothed_ += static_cast<std::uint32_t>(smoothed_ == 0 ? ns : (ns - std::int64_t{smoothed_}) / 8);
  }
  /// Smoothed over eight samples; zero before the first.
  Duration rtt() const { return Duration(smoothed_); }
  /// Nothing was ever measured.
  bool is_guess() const { return !measured_; }
  /// As many samples as half of the EVs: the longest of them says what the others may take.
  bool is_seasoned() const { return std::size_t{windows_} * kFew + samples_ >= delay_.size() / 2; }
  std::size_t bytes() const { return arrived_.bytes() + delay_.bytes(); }

 private:
  static constexpr std::uint16_t kWindow = 1024, kFew = 32;
  static constexpr int kRounds = 32;
  static constexpr unsigned kMostWindows = 15;
  static constexpr std::uint32_t kTypicalStep = 32;
  static constexpr std::uint32_t kFarBehind = 1u << 30;
  static constexpr std::int64_t kLongest = std::int64_t{15} << 31;  // 64 ns ticks: all that a code can say

  static constexpr int kCoarse = 20;  // about a millisecond
  static std::uint16_t coarse(Time t) {
    return static_cast<std::uint16_t>(t.time_since_epoch().count() >> kCoarse);
  }
  Duration age(Time now) const {
    return Duration(std::int64_t{static_cast<std::uint16_t>(coarse(now) - window_began_)} << kCoarse);
  }

  // A delay in one byte: three bits of mantissa, five of exponent, rounded up; 64 ns to minutes within an
  // eighth.
  static std::uint8_t encode(Duration d) {
    const auto v = static_cast<std::uint64_t>(std::clamp<std::int64_t>(d.count() >> 6, 8, kLongest));
    const int exponent = std::bit_width(v) - 4;
    const std::uint64_t mantissa = (v + (std::uint64_t{1} << exponent) - 1) >> exponent;  // 8 .. 16
    return static_cast<std::uint8_t>((exponent << 3) + static_cast<int>(mantissa - 8));
  }
  static Duration decode(std::uint8_t code) {
    return Duration((std::int64_t{8} + (code & 7)) << (code >> 3) << 6);
  }
  FixedArray<TxOrder> arrived_;
  FixedArray<std::uint8_t> delay_;  // encoded; 0: never heard
  static std::uint32_t as_ns(Duration d) {
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(d.count(), 0, UINT32_MAX));
  }
  // ns: longest of this window of samples, and of the one before; a guess until the first sample
  std::uint32_t recent_[2];
  std::uint32_t typical_ = 0;       // ns
  std::uint16_t window_began_ = 0;  // coarse: this is one of thousands
  std::uint16_t samples_ : 11 = 0;  // of this window
  std::uint16_t windows_ : 4 = 0;   // before it; no more than can be said
  std::uint16_t measured_ : 1 = 0;  // something was, ever
  std::uint32_t smoothed_ = 0;      // ns
};

}  // namespace mrc::engine
