// What is left to do when the process ends: in the process that has the threads for it, and not in a child
// that was forked from it, which would wait for them for ever.
#pragma once

#include <unistd.h>

#include <cstdlib>

namespace mrc::nccl {

/// `Act` has no state, because std::atexit() takes none: one call in the program for each.
template <class Act>
void at_exit(Act) {
  static const pid_t owner = ::getpid();
  std::atexit([] {
    if (::getpid() == owner) Act{}();
  });
}

}  // namespace mrc::nccl
