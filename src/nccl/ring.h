// Memory of ours that the peer writes into, slot after slot: grants at a sender, early messages at a
// receiver.
#pragma once

#include <memory>

#include "nccl/device.h"
#include "nccl/protocol.h"

namespace mrc::nccl {

class Ring {
 public:
  static Result<std::unique_ptr<Ring>> make(const Device& device);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  Grant& grant(std::uint32_t sequence) { return slots_[sequence % kGrants].grant; }
  EarlyMessage& early(std::uint32_t number) { return slots_[number % kEarlySlots].early; }
  /// What the peer must know of it.
  void introduce(Introduction& ours) const;
  /// Where a slot of the peer's ring is.
  static std::uint64_t address_of(const Introduction& peer, std::uint32_t slot) {
    return peer.ring_address + slot * sizeof(Slot);
  }

 private:
  union Slot {
    Grant grant;
    EarlyMessage early;
  };
  Ring() : slots_(std::make_unique<Slot[]>(kGrants)) {}
  std::unique_ptr<Slot[]> slots_;
  ibv_mr* memory_ = nullptr;
};

}  // namespace mrc::nccl
