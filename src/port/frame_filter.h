// Which frames a packet socket wants: UDP to one port, over IPv4, over IPv6, or over IPv6 inside IPv6 (SRv6).
#pragma once

#include <linux/filter.h>

#include <array>
#include <cstdint>

namespace mrc::port {

/// Classic BPF over a frame that begins with its Ethernet header. Frames with a segment routing header all
/// pass: who reads them looks closer.
std::array<sock_filter, 20> udp_frame_filter(std::uint16_t udp_port);

}  // namespace mrc::port
