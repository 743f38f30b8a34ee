#include "conform/wire_edge.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "port/udp_port.h"

namespace mrc::conform {

Result<std::unique_ptr<WireEdge>> WireEdge::open(const std::vector<port::Address>& local,
                                                 const std::vector<port::Address>& device,
                                                 std::uint16_t udp_port) {
  if (local.empty() || local.size() != device.size())
    return Error{EINVAL, "tester and device need an address each for every plane"};
  std::unique_ptr<WireEdge> edge(new WireEdge(device));
  for (std::size_t i = 0; i < local.size(); ++i) {
    if (local[i].is_v4() != device[i].is_v4())
      return Error{EINVAL, "tester and device must both have IPv4 or both IPv6 addresses"};
    port::UdpPortOptions options;
    options.local = local[i];
    options.udp_port = udp_port;
    auto port = port::UdpPort::open(options);
    if (!port) return port.error();
    edge->ports_.push_back(*std::move(port));
  }
  return edge;
}

Time WireEdge::now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return Time(std::chrono::seconds(t.tv_sec) + Duration(t.tv_nsec));
}

void WireEdge::wait(Time until) {
  const Duration left = std::max<Duration>(until - now(), Duration::zero());
  const timespec timeout{left / 1s, static_cast<long>((left % 1s).count())};
  std::vector<pollfd> fds;
  for (const auto& port : ports_) {
    fds.push_back({port->wait_fd(), POLLIN, 0});
    fds.push_back({port->event_fd(), POLLIN, 0});
  }
  ::ppoll(fds.data(), fds.size(), &timeout, nullptr);
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    if (fds[2 * i + 1].revents != 0) ports_[i]->service();
  }
}

}  // namespace mrc::conform
