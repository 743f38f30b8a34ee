// What is on its way to one node, and how the part that is due gets into order.
//
// Neighbours append as they send, in any order; once per window the node takes what arrives within it,
// sorted. Sorting a few hundred arrivals of one node, all of them in cache, is what the simulator does
// instead of one queue of all events.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "base/check.h"
#include "sim/transit.h"

namespace mrc::sim {

/// Scratch for sorting, one per thread.
class ArrivalSorter {
 public:
  /// Sorts arrivals of [begin, end) into `sorted`: by time into as many buckets as there are arrivals, then
  /// in place.
  void sort(std::span<const Transit> arrivals, Ps begin, Ps end, std::vector<Transit>& sorted) {
    sorted.resize(arrivals.size());
    if (arrivals.size() <= kFew) {
      std::copy(arrivals.begin(), arrivals.end(), sorted.begin());
    } else {
      scatter(arrivals, begin, end, sorted);
    }
    insertion_sort(sorted);
  }

 private:
  static constexpr std::size_t kFew = 12;

  void scatter(std::span<const Transit> arrivals, Ps begin, Ps end, std::vector<Transit>& sorted) {
    const std::size_t buckets = std::bit_ceil(arrivals.size());
    starts_.assign(buckets + 1, 0);
    // A power of two of picoseconds per bucket: a shift instead of a division.
    const int span_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(end - begin)));
    const int shift = std::max(0, span_bits - std::countr_zero(buckets));
    for (const Transit& t : arrivals) ++starts_[static_cast<std::size_t>((t.when - begin) >> shift) + 1];
    for (std::size_t b = 0; b < buckets; ++b) starts_[b + 1] += starts_[b];
    for (const Transit& t : arrivals)
      sorted[starts_[static_cast<std::size_t>((t.when - begin) >> shift)]++] = t;
  }

  static void insertion_sort(std::vector<Transit>& v) {
    for (std::size_t i = 1; i < v.size(); ++i) {
      if (!arrives_before(v[i], v[i - 1])) continue;
      const Transit moving = v[i];
      std::size_t at = i;
      do v[at] = v[at - 1];
      while (--at > 0 && arrives_before(moving, v[at - 1]));
      v[at] = moving;
    }
  }

  std::vector<std::uint32_t> starts_;
};

class Inbox {
 public:
  void push(const Transit& t) { waiting_.push_back(t); }
  bool empty() const { return waiting_.empty(); }
  std::size_t size() const { return waiting_.size(); }

  /// Moves the arrivals of [begin, end) into `due`, in order. Returns when the earliest of the rest arrives.
  /// REQUIRES: nothing that waits is older than `begin`.
  Ps take(Ps begin, Ps end, ArrivalSorter& sorter, std::vector<Transit>& due) {
    Ps rest = kNeverPs;
    std::size_t later = 0;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      MRC_CHECK(waiting_[i].when >= begin);
      if (waiting_[i].when < end) continue;
      rest = std::min(rest, waiting_[i].when);
      std::swap(waiting_[later++], waiting_[i]);
    }
    sorter.sort(std::span(waiting_).subspan(later), begin, end, due);
    waiting_.resize(later);
    return rest;
  }

 private:
  std::vector<Transit> waiting_;
};

}  // namespace mrc::sim
