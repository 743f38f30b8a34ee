// The XDP program: MRC's frames go to the AF_XDP socket of their queue, everything else goes on into the
// kernel, so that the interface stays an ordinary one.
#pragma once

#include <cstdint>
#include <vector>

#include "port/bpf.h"

namespace mrc::port {

/// UDP to this port over IPv4, IPv6, or IPv6 in IPv6.
std::vector<bpf_insn> steer_udp_port(std::uint16_t udp_port, int socket_map_fd);

}  // namespace mrc::port
