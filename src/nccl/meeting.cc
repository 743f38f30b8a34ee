#include "nccl/meeting.h"

#include <pthread.h>
#include <signal.h>

#include <thread>

namespace mrc::nccl {

std::shared_ptr<Meeting> Meeting::start(std::unique_ptr<Link> link, std::function<Status(Link&)> meet) {
  std::shared_ptr<Meeting> meeting(new Meeting(std::move(link)));
  sigset_t all, before;  // signals are the application's business
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([meeting, meet = std::move(meet)] {
    if (auto met = meet(*meeting->link_); !met) meeting->error_ = met.error();
    meeting->over_.store(true, std::memory_order_release);
  }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return meeting;
}

Result<std::unique_ptr<Link>> Meeting::outcome() {
  if (error_.code != 0) return error_;
  return std::move(link_);
}

}  // namespace mrc::nccl
