// A CQ of EV events: how a controller hears of its paths, with the channels and acknowledgements of any CQ.
#pragma once

#include <memory>

#include "lib/channel.h"
#include "lib/device.h"

namespace mrc::lib {

class EvCq {
 public:
  EvCq(std::shared_ptr<Device> device, std::size_t depth, void* handle, void* context, Channel* channel)
      : device_(std::move(device)),
        member_(channel, handle, context),
        queue_(depth, [this] { member_.notify(); }) {
    device_->profiles().subscribe(&queue_);
  }
  ~EvCq() {
    device_->profiles().unsubscribe(&queue_);
    member_.settle();
  }

  std::size_t poll(std::span<node::EvEvent> out) { return queue_.poll(out); }
  void arm() { queue_.arm(); }
  ChannelMember& member() { return member_; }

 private:
  std::shared_ptr<Device> device_;
  ChannelMember member_;
  node::EvEventQueue queue_;
};

}  // namespace mrc::lib
