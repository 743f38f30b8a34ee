#include "lab/offspring.h"

#include <sys/socket.h>
#include <unistd.h>

namespace mrc::lab {

Result<Offspring> fork_with_channel() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return port::errno_error("socketpair");
  port::Fd parents(ends[0]), childs(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return port::errno_error("fork");
  return Offspring{child, std::move(child == 0 ? childs : parents)};
}

void hold_only(std::set<int> descriptors) {
  unsigned first = 3;
  for (const int fd : descriptors) {
    if (fd < 3) continue;
    if (first < static_cast<unsigned>(fd)) ::close_range(first, static_cast<unsigned>(fd) - 1, 0);
    first = static_cast<unsigned>(fd) + 1;
  }
  ::close_range(first, ~0u, 0);
}

}  // namespace mrc::lab
