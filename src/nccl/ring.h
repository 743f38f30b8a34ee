// Memory of ours that the peer writes into, slot after slot, and what we send from there.
#pragma once

#include <cstddef>
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

  Grant& grant(std::uint32_t sequence) { return slots_->grants[sequence % kGrants]; }
  EarlyMessage& early(std::uint32_t number) { return slots_->early[number % kEarlySlots]; }
  std::uint32_t lkey() const { return memory_->lkey; }
  /// What the peer must know of it, and of us.
  Introduction introduction(std::uint64_t cookie) const;
  /// Where that is in the peer's ring.
  static std::uint64_t address_of_grant(const Introduction& peer, std::uint32_t sequence) {
    return peer.ring_address + offsetof(Rings, grants) + sequence % kGrants * sizeof(Grant);
  }
  static std::uint64_t address_of_early(const Introduction& peer, std::uint32_t number) {
    return peer.ring_address + offsetof(Rings, early) + number % kEarlySlots * sizeof(EarlyMessage);
  }

 private:
  // Not written to before it is used: most connections use little of it, and pages cost nothing until then.
  Ring() : slots_(std::make_unique_for_overwrite<Rings>()) {}
  std::unique_ptr<Rings> slots_;
  ibv_mr* memory_ = nullptr;
};

}  // namespace mrc::nccl
