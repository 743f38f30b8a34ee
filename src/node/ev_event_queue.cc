#include "node/ev_event_queue.h"

#include <algorithm>

namespace mrc::node {

// MRC-CTL-016: a full queue drops the newest, and the next event that fits says how many are missing before
// it.
void EvEventQueue::push(EvEvent event) {
  {
    const std::lock_guard lock(mutex_);
    // Some may be missing before it comes here, where it passed another queue.
    dropped_ += std::min(event.dropped, UINT32_MAX - dropped_);
    if (events_.size() == depth_) {
      if (dropped_ < UINT32_MAX) ++dropped_;
      return;
    }
    event.dropped = dropped_;
    dropped_ = 0;
    events_.push_back(event);
    if (!armed_) return;
    armed_ = false;
  }
  if (notify_) notify_();
}

std::size_t EvEventQueue::poll(std::span<EvEvent> out) {
  const std::lock_guard lock(mutex_);
  std::size_t n = 0;
  for (; n < out.size() && !events_.empty(); ++n) {
    out[n] = events_.front();
    events_.pop_front();
  }
  return n;
}

void EvEventQueue::arm() {
  const std::lock_guard lock(mutex_);
  armed_ = true;
}

}  // namespace mrc::node
