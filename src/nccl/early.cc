#include "nccl/early.h"

namespace mrc::nccl {

bool EarlySent::note_done(std::uint32_t done) {
  if (done - done_ > next_ - done_) return false;
  done_ = done;
  if (arrived_ - done > next_ - done) arrived_ = done;  // it was behind
  return true;
}

std::uint32_t EarlySent::fill(const Grant& grant) {
  if (grant.arrived - arrived_ > next_ - arrived_ || grant.done - done_ > grant.arrived - done_)
    return kNonsense;
  // What had come before the grant was made has its buffer elsewhere, or among those marked as filled.
  arrived_ = grant.arrived;
  done_ = grant.done;
  std::uint32_t filled = grant.filled;
  for (std::uint32_t n = arrived_; n != next_; ++n) {
    Entry& entry = at(n);
    for (std::uint32_t i = 0; i < grant.count && !entry.settled; ++i) {
      if ((filled >> i & 1) != 0 || grant.buffers[i].tag != entry.tag) continue;
      filled |= 1u << i;
      entry.settled = true;
    }
  }
  return filled;
}

void EarlyReceived::note_taken(std::uint32_t number) {
  waits_[number % kEarlySlots] = false;
  while (done_ != arrived_ && !waits(done_)) ++done_;
}

}  // namespace mrc::nccl
