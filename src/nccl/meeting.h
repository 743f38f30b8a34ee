// Meeting a peer takes round trips, and NCCL must not wait: a thread does it, NCCL looks in now and then.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "nccl/link.h"

namespace mrc::nccl {

class Meeting {
 public:
  /// `meet` runs on a thread of its own, and may put another link in the place of this one. It must end by
  /// itself, even when nobody is interested any more.
  using Meet = std::function<Status(std::unique_ptr<Link>&)>;
  static Result<std::shared_ptr<Meeting>> start(std::unique_ptr<Link> link, Meet meet);

  bool over() const { return over_.load(std::memory_order_acquire); }
  /// REQUIRES over(): the link, connected, or why not. Once.
  Result<std::unique_ptr<Link>> outcome();

 private:
  explicit Meeting(std::unique_ptr<Link> link) : link_(std::move(link)) {}
  std::unique_ptr<Link> link_;
  Error error_;
  std::atomic<bool> over_{false};
};

}  // namespace mrc::nccl
