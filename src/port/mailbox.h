// Short messages of a UDP socket, without a system call: while somebody attends, the kernel puts them down
// here instead of the socket's queue (see doorway.h). Reading a message so costs a tenth of a system call,
// and bringing it half as much as before.
#pragma once

#include <utility>

#include "port/doorway.h"

namespace mrc::port {

/// One thread at a time, but for attend().
class Mailbox {
 public:
  using Slot = DoorwayMemory::Slot;
  explicit Mailbox(SharedDoorway memory) : memory_(std::move(memory)), taken_(memory_->claimed) {
    memory_->given_back = taken_;
  }

  /// From now on short messages come here, where nothing wakes whoever sleeps.
  void attend() {
    if (memory_->attended.load(std::memory_order_relaxed) == 0) memory_->attended = 1;
  }
  /// From now on everything goes to the socket. False: some message has come already, or is about to.
  bool rest() {
    memory_->attended.store(0, std::memory_order_seq_cst);
    return memory_->claimed.load(std::memory_order_seq_cst) == taken_;
  }

  /// The oldest message that was not taken, if it is there.
  const Slot* front() const {
    const Slot& slot = memory_->slots[taken_ % DoorwayMemory::kSlots];
    return slot.ready.load(std::memory_order_acquire) == taken_ + 1 ? &slot : nullptr;
  }
  /// REQUIRES front(), which stays until give_back().
  void take() { ++taken_; }
  /// All that was taken so far. The kernel hears of some at a time: it would wait for the news each time.
  void give_back() {
    if (taken_ - given_back_ < DoorwayMemory::kSlots / 4) return;
    given_back_ = taken_;
    memory_->given_back.store(taken_, std::memory_order_release);
  }
  /// How many have ever come this way: the socket counts each as dropped.
  std::uint64_t ever() const { return memory_->claimed.load(std::memory_order_relaxed); }

 private:
  SharedDoorway memory_;
  std::uint64_t taken_;
  std::uint64_t given_back_ = taken_;
};

}  // namespace mrc::port
