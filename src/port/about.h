// What the headers around one message tell: of all its packets, if it is coalesced.
#pragma once

#include <sys/socket.h>

#include <cstring>

#include "port/doorway.h"
#include "port/port.h"

namespace mrc::port {

template <class T>
T value_of(const cmsghdr& control) {
  T value;
  std::memcpy(&value, CMSG_DATA(&control), sizeof value);
  return value;
}

struct About {
  Address from;
  Address to;
  std::uint32_t flow_label = 0;
  std::int64_t arrival_ns = 0;
  std::uint16_t source_port = 0;
  std::uint8_t tos = 0;

  /// From a control message of a socket, if it is one of those that tell.
  void read(const cmsghdr& control);
  /// From the headers themselves. REQUIRES a socket of the family that `to` has.
  void read(const DoorwayMemory::Letter& letter, const std::uint8_t* udp);

  /// A view of one packet. It points here.
  RxPacket packet(const void* data, std::uint32_t size) const {
    return {.data = static_cast<const std::byte*>(data),
            .size = size,
            .flow_label = flow_label,
            .from = &from,
            .to = &to,
            .source_port = source_port,
            .tos = tos,
            .arrival_ns = arrival_ns};
  }
};

}  // namespace mrc::port
