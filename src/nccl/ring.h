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

  Grant& grant(std::uint32_t sequence) { return slots_[sequence % kRing].grant; }
  EarlyMessage& early(std::uint32_t sequence) { return slots_[sequence % kRing].early; }
  /// What the peer must know of it.
  void introduce(Introduction& ours) const;
  /// Where slot `sequence` of the peer's ring is.
  static std::uint64_t address_of(const Introduction& peer, std::uint32_t sequence) {
    return peer.ring_address + sequence % kRing * sizeof(Slot);
  }

 private:
  union Slot {
    Grant grant;
    EarlyMessage early;
  };
  Ring() : slots_(std::make_unique<Slot[]>(kRing)) {}
  std::unique_ptr<Slot[]> slots_;
  ibv_mr* memory_ = nullptr;
};

}  // namespace mrc::nccl
