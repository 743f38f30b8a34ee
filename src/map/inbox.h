// The UDP sockets that probes come back to.
#pragma once

#include <functional>

#include "base/ipv6.h"
#include "base/time.h"
#include "port/fd.h"
#include "wire/bytes.h"

namespace mrc::map {

/// Bound to the port on every address; with the kernel's time of arrival beside each datagram.
Result<port::Fd> open_inbox(std::uint16_t udp_port);

struct Arrived {
  wire::Bytes bytes;
  Ipv6 from;
  Duration ago{0};  // how long before this call it arrived
};
/// Hands over everything that waits.
void drain(int fd, const std::function<void(const Arrived&)>& take);

}  // namespace mrc::map
