// Deadlines of many objects, earliest first: a heap whose elements know their place in it.
//
// Moving a deadline earlier costs a few steps; moving it later costs nothing, because the old entry stays,
// comes up too early, and is then asked for its real deadline. Acknowledgement timers move later with each
// packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace mrc::nic {

/// What can be in a TimerHeap, as a base class; the kind tells what it is when it comes up.
enum class TimedKind : std::uint8_t { qp, congestion, peer, endpoint, probes };
struct Timed {
  explicit Timed(TimedKind k) : kind(k) {}
  static constexpr std::uint32_t kNotInHeap = ~std::uint32_t{0};
  Time deadline = kNever;
  std::uint32_t heap_position = kNotInHeap;
  TimedKind kind;
};

class TimerHeap {
 public:
  /// Room for n elements, so that arm() never allocates.
  void make_room(std::size_t n) {
    if (heap_.capacity() < n) heap_.reserve(n * 2);
  }

  /// `item` comes up at `when` at the latest; it may come up earlier.
  void arm(Timed& item, Time when);
  void remove(Timed& item);
  /// The item with the earliest deadline at or before `now`, taken out; nullptr when there is none.
  Timed* pop_due(Time now);

  Time earliest() const { return heap_.empty() ? kNever : heap_.front()->deadline; }
  std::size_t size() const { return heap_.size(); }

 private:
  static constexpr std::size_t kFan = 4;
  void place(std::size_t at, Timed* item);
  void sift_up(std::size_t at);
  void sift_down(std::size_t at);

  std::vector<Timed*> heap_;
};

}  // namespace mrc::nic
