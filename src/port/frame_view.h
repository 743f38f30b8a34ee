// What is inside a frame: addresses, ports and the UDP payload, whether or not an outer IPv6 header is around
// it.
#pragma once

#include <cstdint>
#include <optional>

#include "port/port.h"

namespace mrc::port {

struct FrameContent {
  Address from;
  Address to;
  const std::byte* payload = nullptr;
  std::uint32_t payload_size = 0;  // what is there; a trimmed packet's headers may announce more
  std::uint32_t flow_label = 0;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  bool encapsulated = false;
  Address outer_from, outer_to;  // of the outer header, if there is one
  std::uint8_t tos = 0;          // outer and inner header's, merged: switches mark the outer one
};

/// Nothing when it isn't UDP over IPv4, IPv6, or IPv6 in IPv6 (with a segment routing header or without).
std::optional<FrameContent> open_frame(const RxPacket& frame);

}  // namespace mrc::port
