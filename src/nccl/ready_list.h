// Who has something to be done: many threads add, one at a time takes all, without locks.
#pragma once

#include <atomic>

namespace mrc::nccl {

class ReadyList {
 public:
  /// Can be on the list, once.
  class Entry {
    friend class ReadyList;
    std::atomic<bool> listed_{false};
    Entry* next_ = nullptr;
  };

  /// What `one`'s thread has prepared before is seen by whoever takes it from the list afterwards.
  void add(Entry& one) {
    if (one.listed_.exchange(true)) return;  // who takes it looks at it after that
    one.next_ = first_.load(std::memory_order_relaxed);
    while (!first_.compare_exchange_weak(one.next_, &one)) continue;
  }
  bool empty() const { return first_.load() == nullptr; }

  /// Takes all and calls `act` for each, whose entry may be added anew from then on. REQUIRES: nobody else
  /// takes at the same time.
  template <class Act>
  void take_all(Act&& act) {
    Entry* one = first_.load(std::memory_order_relaxed) != nullptr ? first_.exchange(nullptr) : nullptr;
    while (one != nullptr) {
      Entry* const next = one->next_;  // which is not ours any more when it is no longer listed
      one->listed_.exchange(false);    // reads what add() wrote, and so sees what was prepared before
      act(*one);
      one = next;
    }
  }

 private:
  std::atomic<Entry*> first_{nullptr};
};

}  // namespace mrc::nccl
