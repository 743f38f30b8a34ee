#include "nccl/grant_ring.h"

namespace mrc::nccl {

Result<std::unique_ptr<GrantRing>> GrantRing::make(const Device& device) {
  std::unique_ptr<GrantRing> ring(new GrantRing);
  const auto memory = device.register_memory(ring->slots_.get(), sizeof(Grant) * kRing);
  if (!memory) return memory.error();
  ring->memory_ = *memory;
  return ring;
}

GrantRing::~GrantRing() {
  if (memory_ != nullptr) ::ibv_dereg_mr(memory_);
}

}  // namespace mrc::nccl
