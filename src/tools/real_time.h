// Going before all other work of the machine: for measurements, where other work would be taken for the
// network.
#pragma once

#include <sched.h>
#include <time.h>

namespace mrc::tools {

/// This thread and those that it starts from now on. False where the machine does not allow it.
inline bool go_first() {
  const sched_param first{.sched_priority = 1};
  return ::sched_setscheduler(0, SCHED_RR, &first) == 0;
}

/// Who goes first must not spin: the kernel would stop it for 50 ms of each second, so that others run at
/// all.
inline void rest_a_moment() {
  constexpr timespec kMoment{0, 20'000};
  ::clock_nanosleep(CLOCK_MONOTONIC, 0, &kMoment, nullptr);
}

}  // namespace mrc::tools
