// Memory of ours that the peer writes into, slot after slot, and that we send copies from.
#pragma once

#include <array>
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

  /// For short pieces of messages, which are done for NCCL at once.
  static constexpr std::uint32_t kCopies = 64, kCopyBytes = 208;
  using Copy = std::array<std::byte, kCopyBytes>;

  Grant& grant(std::uint32_t sequence) { return memory_->rings.grants[sequence % kGrants]; }
  EarlyMessage& early(std::uint32_t number) { return memory_->rings.early[number % kEarlySlots]; }
  Copy& copy(std::uint32_t number) { return memory_->copies[number % kCopies]; }
  std::uint32_t lkey() const { return region_->lkey; }
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
  // Not written to before it is used, and registered so that it may be: most connections use little of it,
  // and pages cost nothing until then.
  struct Memory {
    Rings rings;
    Copy copies[kCopies];
  };
  Ring() : memory_(std::make_unique_for_overwrite<Memory>()) {}
  std::unique_ptr<Memory> memory_;
  ibv_mr* region_ = nullptr;
};

}  // namespace mrc::nccl
