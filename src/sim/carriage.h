// How a NIC's packet becomes a frame: its size on the wire, the uSIDs that lead it, what a hash would see.
#pragma once

#include <cstdint>

#include "engine/sizes.h"
#include "fabric/frame.h"
#include "topo/topo.h"
#include "wire/packet.h"

namespace mrc::sim {

/// What surrounds a UDP datagram on its way.
struct Encapsulation {
  bool srv6 = true;                      // an outer IPv6 header
  std::uint32_t ethernet = 14 + 4 + 20;  // header, FCS, preamble and gap
  constexpr std::uint32_t overhead() const { return ethernet + 40 + (srv6 ? 40u : 0u); }
};

/// What a trimmed frame has to keep for its receiver to know it: every header that a write may have.
inline constexpr std::uint32_t kLeastTrim =
    Encapsulation{}.overhead() + engine::udp_length(0, true, true) - engine::kIcrc;

/// UDP header, MRC headers, payload, iCRC.
std::uint32_t datagram_bytes(const wire::Packet& packet);

/// The uSIDs of the path that `choice` names from host to host: what Topology::usids(path) says, in a few
/// operations.
void write_route(const topo::Topology& topo, topo::HostId source, topo::HostId destination,
                 const topo::Choice& choice, fabric::Frame& frame);

}  // namespace mrc::sim
