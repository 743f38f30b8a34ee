// A completion queue as programs see it, whichever interface they use: completions as ibv_wc, events on a
// channel.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <memory>

#include "lib/async_event.h"
#include "lib/device.h"

namespace mrc::lib {

class CqShell;

struct Channel {
  EventQueue<CqShell*> events;
  std::atomic<int> users = 0;  // CQs that report here
};

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
  void* handle() const { return handle_; }
  void* context() const { return context_; }
  Acknowledgements& completion_acks() { return completion_acks_; }
  Acknowledgements& async_acks() { return async_acks_; }

  void on_cq_event() override;
  void on_cq_overrun() override;

 private:
  CqShell(std::shared_ptr<Device> device, AsyncQueue& async, void* handle, void* context, Channel* channel)
      : device_(std::move(device)), async_(async), handle_(handle), context_(context), channel_(channel) {}

  std::shared_ptr<Device> device_;
  AsyncQueue& async_;
  void* handle_;
  void* context_;
  Channel* channel_;
  CompletionQueue* queue_ = nullptr;
  Acknowledgements completion_acks_;
  Acknowledgements async_acks_;
};

/// The next CQ of this channel that has something: as ibv_get_cq_event. 0 or an errno.
int take_cq_event(Channel& channel, CqShell*& cq);

void to_wc(const WorkCompletion& from, ibv_wc& to);

}  // namespace mrc::lib
