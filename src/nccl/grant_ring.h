// The memory of a sender that its receiver writes grants into.
#pragma once

#include <memory>

#include "nccl/device.h"
#include "nccl/protocol.h"

namespace mrc::nccl {

class GrantRing {
 public:
  static Result<std::unique_ptr<GrantRing>> make(const Device& device);
  ~GrantRing();
  GrantRing(const GrantRing&) = delete;
  GrantRing& operator=(const GrantRing&) = delete;

  Grant& operator[](std::uint32_t sequence) { return slots_[sequence % kRing]; }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(slots_.get()); }
  std::uint32_t rkey() const { return memory_->rkey; }

 private:
  GrantRing() : slots_(std::make_unique<Grant[]>(kRing)) {}
  std::unique_ptr<Grant[]> slots_;
  ibv_mr* memory_ = nullptr;
};

}  // namespace mrc::nccl
