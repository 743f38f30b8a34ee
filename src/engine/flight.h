// The packets of one requestor that are not settled yet: which PSN, where its record is, in flight or lost.
#pragma once

#include <bit>
#include <cstdint>

#include "base/fixed_array.h"
#include "base/psn.h"
#include "engine/record_pool.h"

namespace mrc::engine {

class Flight {
 public:
  /// `window` PSNs at most are outstanding at a time.
  Flight(RecordPool& pool, int window, Psn first);
  ~Flight();
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

  Psn base() const { return base_; }  // oldest PSN not acknowledged cumulatively
  Psn next() const { return next_; }  // first PSN never sent
  int outstanding() const { return next_ - base_; }
  int in_flight() const { return in_flight_; }
  int lost() const { return lost_; }
  std::size_t bytes() const { return slabs_.bytes(); }
  bool settled() const { return in_flight_ == 0 && lost_ == 0; }

  /// A record for the next new PSN, or null when the pool is empty. Follow with launch(next()).
  bool can_extend();
  Record& extend() {
    const Psn psn = next_;
    next_ = next_ + 1;
    launch(psn);
    return record(psn);
  }

  bool is_in_flight(Psn p) const { return within(p) && (slab(p).in_flight >> bit(p) & 1) != 0; }
  bool is_lost(Psn p) const { return within(p) && (slab(p).lost >> bit(p) & 1) != 0; }
  Record& record(Psn p) { return slab(p).records[bit(p)]; }

  void mark_lost(Psn p);   // REQUIRES is_in_flight(p)
  void relaunch(Psn p);    // REQUIRES is_lost(p)
  void settle(Psn p);      // arrived, whether in flight or lost
  Psn first_lost() const;  // REQUIRES lost() > 0

  /// Everything before `p` has arrived: calls `each(psn, record, was_in_flight)` for what was still open.
  template <class Each>
  void advance(Psn p, Each&& each);
  /// Calls `each(psn)` for the PSNs in [from, from + 64) whose bit of `mask` is set and that are in flight or
  /// lost.
  template <class Each>
  void for_open(Psn from, std::uint64_t mask, Each&& each);
  /// Calls `each(psn, record)` for every packet in flight, oldest PSN first; `each` returns false to stop.
  template <class Each>
  void for_in_flight(Each&& each);

 private:
  static int bit(Psn p) { return static_cast<int>(p.value() & (Slab::kPsns - 1)); }
  static Psn word_start(Psn p) { return Psn(p.value() & ~std::uint32_t{Slab::kPsns - 1}); }
  std::uint16_t& index(Psn p) { return slabs_[p.value() / Slab::kPsns & (slabs_.size() - 1)]; }
  std::uint16_t index(Psn p) const { return slabs_[p.value() / Slab::kPsns & (slabs_.size() - 1)]; }
  Slab& slab(Psn p) { return pool_[index(p)]; }
  const Slab& slab(Psn p) const { return pool_[index(p)]; }
  bool within(Psn p) const { return !p.before(base_) && p.before(next_); }
  void launch(Psn p) {
    slab(p).in_flight |= std::uint64_t{1} << bit(p);
    ++in_flight_;
  }
  void release_before(Psn p);

  RecordPool& pool_;
  FixedArray<std::uint16_t> slabs_;
  Psn base_, next_;
  Psn lost_hint_;  // no PSN before this one is lost
  int in_flight_ = 0, lost_ = 0;
};

template <class Each>
void Flight::advance(Psn p, Each&& each) {
  while (base_.before(p)) {
    const Psn word = word_start(base_);
    const int last = p - word < Slab::kPsns ? p - word : Slab::kPsns;
    const std::uint64_t below = last == Slab::kPsns ? ~std::uint64_t{0} : (std::uint64_t{1} << last) - 1;
    Slab& s = slab(base_);
    for (std::uint64_t open = (s.in_flight | s.lost) & below; open != 0; open &= open - 1) {
      const int i = std::countr_zero(open);
      const bool flying = (s.in_flight >> i & 1) != 0;
      flying ? --in_flight_ : --lost_;
      each(word + i, s.records[i], flying);
    }
    s.in_flight &= ~below;
    s.lost &= ~below;
    base_ = word + last;
    if (last == Slab::kPsns || base_ == next_) release_before(word + Slab::kPsns);
  }
}

template <class Each>
void Flight::for_open(Psn from, std::uint64_t mask, Each&& each) {
  for (; mask != 0; mask &= mask - 1) {
    const Psn p = from + std::countr_zero(mask);
    if (!within(p)) continue;
    const Slab& s = slab(p);
    if (((s.in_flight | s.lost) >> bit(p) & 1) != 0) each(p);
  }
}

template <class Each>
void Flight::for_in_flight(Each&& each) {
  if (in_flight_ == 0) return;
  for (Psn word = word_start(base_); word.before(next_); word = word + Slab::kPsns) {
    Slab& s = pool_[index(word)];
    for (std::uint64_t open = s.in_flight; open != 0; open &= open - 1) {
      const int i = std::countr_zero(open);
      if (!each(word + i, s.records[i])) return;
    }
  }
}

}  // namespace mrc::engine
