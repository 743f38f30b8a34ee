#include "nccl/meeting.h"

#include "nccl/thread.h"

namespace mrc::nccl {

Result<std::shared_ptr<Meeting>> Meeting::start(std::unique_ptr<Link> link, Meet meet) {
  std::shared_ptr<Meeting> meeting(new Meeting(std::move(link)));
  auto started = start_thread("openmrc-meeting", [meeting, meet = std::move(meet)] {
    if (auto met = meet(meeting->link_); !met) meeting->error_ = met.error();
    meeting->over_.store(true, std::memory_order_release);
  });
  if (!started) return started.error();
  started->detach();
  return meeting;
}

Result<std::unique_ptr<Link>> Meeting::outcome() {
  if (error_.code != 0) return error_;
  return std::move(link_);
}

}  // namespace mrc::nccl
