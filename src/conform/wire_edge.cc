#include "conform/wire_edge.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "port/udp_port.h"

namespace mrc::conform {

Result<std::unique_ptr<WireEdge>> WireEdge::open(const port::Address& local, const port::Address& device,
                                                 std::uint16_t udp_port) {
  if (local.is_v4() != device.is_v4())
    return Error{EINVAL, "tester and device must both have IPv4 or both IPv6 addresses"};
  port::UdpPortOptions options;
  options.local = local;
  options.udp_port = udp_port;
  auto port = port::UdpPort::open(options);
  if (!port) return port.error();
  return std::unique_ptr<WireEdge>(new WireEdge(*std::move(port), device));
}

Time WireEdge::now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return Time(std::chrono::seconds(t.tv_sec) + Duration(t.tv_nsec));
}

void WireEdge::wait(Time until) {
  const Duration left = std::max<Duration>(until - now(), Duration::zero());
  const timespec timeout{left / 1s, static_cast<long>((left % 1s).count())};
  pollfd fds[] = {{port_->wait_fd(), POLLIN, 0}, {port_->event_fd(), POLLIN, 0}};
  ::ppoll(fds, 2, &timeout, nullptr);
  if (fds[1].revents != 0) port_->service();
}

}  // namespace mrc::conform
