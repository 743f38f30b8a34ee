#include "engine/flight.h"

namespace mrc::engine {

Flight::Flight(RecordPool& pool, int window, Psn first)
    : pool_(pool),
      slabs_(std::bit_ceil(static_cast<unsigned>(window / Slab::kPsns + 2))),
      base_(first),
      next_(first),
      lost_hint_(first) {
  for (auto& s : slabs_) s = RecordPool::kNone;
}

Flight::~Flight() {
  for (auto s : slabs_) {
    if (s != RecordPool::kNone) pool_.give(s);
  }
}

bool Flight::can_extend() {
  std::uint16_t& s = index(next_);
  if (s == RecordPool::kNone) s = pool_.take();
  return s != RecordPool::kNone;
}

void Flight::mark_lost(Psn p) {
  const std::uint64_t b = std::uint64_t{1} << bit(p);
  slab(p).in_flight &= ~b;
  slab(p).lost |= b;
  --in_flight_;
  if (lost_++ == 0 || p.before(lost_hint_)) lost_hint_ = p;
}

void Flight::relaunch(Psn p) {
  lost_hint_ = p;  // repairs go oldest first, so nothing older is left
  slab(p).lost &= ~(std::uint64_t{1} << bit(p));
  --lost_;
  launch(p);
}

void Flight::settle(Psn p) {
  Slab& s = slab(p);
  const std::uint64_t b = std::uint64_t{1} << bit(p);
  if ((s.in_flight & b) != 0) --in_flight_;
  if ((s.lost & b) != 0) --lost_;
  s.in_flight &= ~b;
  s.lost &= ~b;
}

Psn Flight::first_lost() const {
  Psn p = lost_hint_.before(base_) ? base_ : lost_hint_;
  for (Psn word = word_start(p);; word = word + Slab::kPsns) {
    const std::uint64_t lost = pool_[index(word)].lost;
    if (lost != 0) return word + std::countr_zero(lost);
  }
}

void Flight::release_before(Psn p) {
  std::uint16_t& s = index(p - 1);
  if (s == RecordPool::kNone) return;
  pool_.give(s);
  s = RecordPool::kNone;
}

}  // namespace mrc::engine
