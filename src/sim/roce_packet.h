// What RoCEv2 puts on the wire, as a value that lies where an MRC packet would.
#pragma once

#include <cstdint>
#include <new>

#include "sim/cargo.h"

namespace mrc::sim {

struct RocePacket {
  enum class Kind : std::uint8_t { data, ack, nak, cnp };
  Kind kind = Kind::data;
  bool ends = false;           // the last packet of its part of a message
  std::uint16_t qp = 0;        // the QP's place in the pair
  std::uint32_t psn = 0;       // ack, nak: the first one not received
  std::uint16_t payload = 0;   // bytes
  std::uint16_t parts = 0;     // of the message, one per QP
  std::uint32_t sequence = 0;  // of the message, in its pair of hosts
  std::uint32_t tag = 0;
};
static_assert(sizeof(RocePacket) <= sizeof(wire::Packet));

/// Bytes on the wire: Ethernet with its gap, IPv6, UDP, BTH, RETH or AETH, iCRC.
constexpr std::uint32_t roce_frame_bytes(const RocePacket& p) {
  constexpr std::uint32_t kEthernet = 38, kIpv6 = 40, kUdp = 8, kBth = 12, kReth = 16, kAeth = 4, kIcrc = 4;
  const std::uint32_t base = kEthernet + kIpv6 + kUdp + kBth + kIcrc;
  return base + (p.kind == RocePacket::Kind::data ? kReth + p.payload : kAeth);
}

inline RocePacket& put_roce(Cargo& cargo, const RocePacket& p) {
  return *new (static_cast<void*>(&cargo.packet)) RocePacket(p);
}
inline RocePacket roce_of(const Cargo& cargo) {
  return *std::launder(reinterpret_cast<const RocePacket*>(&cargo.packet));
}

}  // namespace mrc::sim
