#include "nccl/ring.h"

namespace mrc::nccl {

Result<std::unique_ptr<Ring>> Ring::make(const Device& device) {
  std::unique_ptr<Ring> ring(new Ring);
  const auto region = device.register_on_demand(ring->memory_.get(), sizeof(Memory));
  if (!region) return region.error();
  ring->region_ = *region;
  return ring;
}

Ring::~Ring() {
  if (region_ != nullptr) ::ibv_dereg_mr(region_);
}

Introduction Ring::introduction(std::uint64_t cookie) const {
  return {.cookie = cookie,
          .ring_address = reinterpret_cast<std::uint64_t>(&memory_->rings),
          .ring_rkey = region_->rkey,
          .ring_slots = kGrants};
}

}  // namespace mrc::nccl
