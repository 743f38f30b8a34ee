#include "nic/timer_heap.h"

#include <algorithm>

namespace mrc::nic {

void TimerHeap::place(std::size_t at, Timed* item) {
  heap_[at] = item;
  item->heap_position = static_cast<std::uint32_t>(at);
}

void TimerHeap::sift_up(std::size_t at) {
  Timed* item = heap_[at];
  for (; at > 0; at = (at - 1) / kFan) {
    Timed* parent = heap_[(at - 1) / kFan];
    if (parent->deadline <= item->deadline) break;
    place(at, parent);
  }
  place(at, item);
}

void TimerHeap::sift_down(std::size_t at) {
  Timed* item = heap_[at];
  while (true) {
    const std::size_t first = at * kFan + 1;
    if (first >= heap_.size()) break;
    const auto begin = heap_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = heap_.begin() + static_cast<std::ptrdiff_t>(std::min(first + kFan, heap_.size()));
    const auto least =
        std::min_element(begin, end, [](auto* a, auto* b) { return a->deadline < b->deadline; });
    if ((*least)->deadline >= item->deadline) break;
    const auto next = static_cast<std::size_t>(least - heap_.begin());
    place(at, *least);
    at = next;
  }
  place(at, item);
}

void TimerHeap::arm(Timed& item, Time when) {
  if (item.heap_position == Timed::kNotInHeap) {
    if (when == kNever) return;
    item.deadline = when;
    heap_.push_back(&item);
    sift_up(heap_.size() - 1);
  } else if (when < item.deadline) {
    item.deadline = when;
    sift_up(item.heap_position);
  }
}

void TimerHeap::remove(Timed& item) {
  const std::size_t at = item.heap_position;
  if (at == Timed::kNotInHeap) return;
  item.heap_position = Timed::kNotInHeap;
  Timed* last = heap_.back();
  heap_.pop_back();
  if (last == &item) return;
  place(at, last);
  sift_up(at);
  sift_down(last->heap_position);
}

Timed* TimerHeap::pop_due(Time now) {
  if (heap_.empty() || heap_.front()->deadline > now) return nullptr;
  Timed* item = heap_.front();
  remove(*item);
  return item;
}

}  // namespace mrc::nic
