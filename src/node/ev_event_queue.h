// The queue of EV events that a controller polls: bounded, and honest about what it had to drop.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <span>

#include "node/profile_types.h"

namespace mrc::node {

struct EvEvent {
  std::uint64_t profile = 0;
  EvValue value;
  EvState state = EvState::good;
  std::uint32_t dropped = 0;  // events lost between the one before and this one
};

class EvEventQueue {
 public:
  /// `notify` is called once per arm(), from the thread that pushes.
  explicit EvEventQueue(std::size_t depth, std::function<void()> notify = {})
      : depth_(depth), notify_(std::move(notify)) {}

  void push(EvEvent event);
  std::size_t poll(std::span<EvEvent> out);
  void arm();

 private:
  std::mutex mutex_;
  std::size_t depth_;
  std::function<void()> notify_;
  std::deque<EvEvent> events_;
  std::uint32_t dropped_ = 0;
  bool armed_ = false;
};

}  // namespace mrc::node
