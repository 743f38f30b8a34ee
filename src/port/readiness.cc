#include "port/readiness.h"

#include "port/system_calls.h"

namespace mrc::port {

Readiness::Readiness(std::span<Port* const> ports) {
  for (const Port* port : ports) {
    ports_.push_back(port);
    fds_.push_back({-1, POLLIN, 0});
  }
}

void Readiness::look() {
  const int n = system_calls::poll_now(fds_.data(), fds_.size());
  if (n >= 0) return;
  for (pollfd& fd : fds_) fd.revents = POLLIN;  // interrupted: asking each costs little
}

}  // namespace mrc::port
