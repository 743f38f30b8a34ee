// A child of this process, and a channel between the two that keeps messages apart.
#pragma once

#include <sys/types.h>

#include <set>

#include "port/fd.h"

namespace mrc::lab {

struct Offspring {
  pid_t pid = 0;     // 0: this is the child
  port::Fd channel;  // to the other
};

Result<Offspring> fork_with_channel();

/// In a child: closes all descriptors but these and the standard three.
void hold_only(std::set<int> descriptors);

}  // namespace mrc::lab
