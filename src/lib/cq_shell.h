// A completion queue as programs see it, whichever interface they use: completions as ibv_wc, events on a
// channel.
#pragma once

#include <infiniband/verbs.h>

#include <memory>

#include "lib/async_event.h"
#include "lib/channel.h"
#include "lib/device.h"

namespace mrc::lib {

class CqShell final : public CqListener {
 public:
  /// `handle` is what events name; `channel` may be null. EINVAL for a depth that the device does not have.
  static Result<std::unique_ptr<CqShell>> create(std::shared_ptr<Device> device, AsyncQueue& async, int depth,
                                                 void* handle, void* context, Channel* channel);
  /// REQUIRES: close() returned 0.
  ~CqShell() = default;

  /// 0, or EBUSY while a QP uses it. Waits for the program to acknowledge what it was told.
  int close();

  int poll(int count, ibv_wc* wc);
  void arm(bool solicited_only) { queue_->arm(solicited_only); }
  int resize(int depth);

  CompletionQueue* queue() const { return queue_; }
  void* context() const { return events_.context(); }
  Acknowledgements& completion_acks() { return events_.acks(); }
  Acknowledgements& async_acks() { return async_acks_; }

  void on_cq_event() override { events_.notify(); }
  void on_cq_overrun() override;

 private:
  CqShell(std::shared_ptr<Device> device, AsyncQueue& async, void* handle, void* context, Channel* channel)
      : device_(std::move(device)), async_(async), events_(channel, handle, context) {}

  std::shared_ptr<Device> device_;
  AsyncQueue& async_;
  ChannelMember events_;
  CompletionQueue* queue_ = nullptr;
  Acknowledgements async_acks_;
};

void to_wc(const WorkCompletion& from, ibv_wc& to);

}  // namespace mrc::lib
