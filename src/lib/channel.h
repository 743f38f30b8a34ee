// Completion channels: which CQ has something, told on a descriptor, and acknowledged.
#pragma once

#include <atomic>

#include "lib/acknowledgements.h"
#include "lib/event_queue.h"

namespace mrc::lib {

class ChannelMember;

struct Channel {
  EventQueue<ChannelMember*> events;
  std::atomic<int> users = 0;  // CQs that report here
};

/// The part of a CQ, of either kind, that reports to a channel; `channel` may be null.
class ChannelMember {
 public:
  ChannelMember(Channel* channel, void* handle, void* context)
      : channel_(channel), handle_(handle), context_(context) {
    if (channel_ != nullptr) ++channel_->users;
  }
  ~ChannelMember() {
    if (channel_ != nullptr) --channel_->users;
  }
  ChannelMember(const ChannelMember&) = delete;
  ChannelMember& operator=(const ChannelMember&) = delete;

  void* handle() const { return handle_; }    // the program's CQ
  void* context() const { return context_; }  // what it gave with it
  Acknowledgements& acks() { return acks_; }

  void notify() {
    if (channel_ != nullptr) channel_->events.push(this);
  }
  /// The CQ is going: untold events vanish, told ones are waited for. REQUIRES: nobody calls notify() any
  /// more.
  void settle() {
    if (channel_ != nullptr) {
      channel_->events.forget([this](const ChannelMember* member) { return member == this; });
    }
    acks_.wait();
  }

 private:
  Channel* channel_;
  void* handle_;
  void* context_;
  Acknowledgements acks_;
};

/// The next CQ of this channel that has something: as ibv_get_cq_event. 0 or an errno.
inline int take_cq_event(Channel& channel, ChannelMember*& cq) {
  return channel.events.take(cq, [](ChannelMember* taken) { taken->acks().note_delivered(); });
}

}  // namespace mrc::lib
