// Frames that a packet socket has taken still go up the kernel's stack, which finds nobody for them. A shield
// drops them behind the packet socket and before the stack.
#pragma once

#include <cstdint>

#include "port/address.h"
#include "port/fd.h"

namespace mrc::port {

/// Drops UDP to this address and port (also inside an outer IPv6 header) that comes in by the interface,
/// until the link that it returns is closed. EPERM without CAP_BPF, EINVAL before Linux 6.6: the frames are
/// then dropped later, at some cost.
Result<Fd> raise_shield(std::uint32_t interface, const Address& local, std::uint16_t udp_port);

}  // namespace mrc::port
