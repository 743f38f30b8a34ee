// Which of several ports have something to read, in one system call.
#pragma once

#include <poll.h>

#include <span>
#include <vector>

#include "port/port.h"

namespace mrc::port {

class Readiness {
 public:
  /// Ports without a descriptor count as readable always. A port may have another one after a link event.
  explicit Readiness(std::span<Port* const> ports);

  std::size_t size() const { return fds_.size(); }
  /// Asks the kernel for those that `wanted` is set for.
  template <class Wanted>
  void look(Wanted&& wanted) {
    for (std::size_t i = 0; i < fds_.size(); ++i) fds_[i].fd = wanted(i) ? ports_[i]->wait_fd() : -1;
    look();
  }
  /// Of the last look, for a port that was wanted.
  bool readable(std::size_t port) const { return ports_[port]->wait_fd() < 0 || fds_[port].revents != 0; }

 private:
  void look();
  std::vector<const Port*> ports_;
  std::vector<pollfd> fds_;
};

}  // namespace mrc::port
