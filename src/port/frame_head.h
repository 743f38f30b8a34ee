// The headers that a frame needs before a datagram: Ethernet, an outer IPv6 header for SRv6 (and an SRH where
// the path takes two carriers), IP, UDP.
#pragma once

#include <cstdint>

#include "port/port.h"
#include "wire/address.h"

namespace mrc::port {

struct FrameRoute {
  Address from;
  wire::MacAddress source_mac;
  wire::MacAddress next_hop;
  std::uint16_t udp_port = 4791;
  std::uint8_t hop_limit = 64;
};

inline constexpr std::size_t kMaxFrameHead = 14 + 40 + 24 + 40 + 8;

/// Bytes that emit_frame_head writes.
std::size_t frame_head_size(const TxTrain& packet);
/// Writes everything but the UDP checksum, which is 0. UDP is the last eight bytes. REQUIRES: one packet, of
/// one family with route.from, and an outer address only over IPv6.
void emit_frame_head(const TxTrain& packet, const FrameRoute& route, std::uint8_t* out);

}  // namespace mrc::port
