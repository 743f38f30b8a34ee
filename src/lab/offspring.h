// A child of this process, and a channel between the two that keeps messages apart.
#pragma once

#include <sys/types.h>

#include "port/fd.h"

namespace mrc::lab {

struct Offspring {
  pid_t pid = 0;     // 0: this is the child
  port::Fd channel;  // to the other
};

Result<Offspring> fork_with_channel();

}  // namespace mrc::lab
