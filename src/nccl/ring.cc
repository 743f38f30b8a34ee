#include "nccl/ring.h"

namespace mrc::nccl {

Result<std::unique_ptr<Ring>> Ring::make(const Device& device) {
  std::unique_ptr<Ring> ring(new Ring);
  const auto memory = device.register_memory(ring->slots_.get(), sizeof(Rings));
  if (!memory) return memory.error();
  ring->memory_ = *memory;
  return ring;
}

Ring::~Ring() {
  if (memory_ != nullptr) ::ibv_dereg_mr(memory_);
}

Introduction Ring::introduction(std::uint64_t cookie) const {
  return {.cookie = cookie,
          .ring_address = reinterpret_cast<std::uint64_t>(slots_.get()),
          .ring_rkey = memory_->rkey,
          .ring_slots = kGrants};
}

}  // namespace mrc::nccl
