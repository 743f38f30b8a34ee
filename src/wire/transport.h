// BTH and what follows it: the part of a packet that is MRC. Used by the codec at every level.
#pragma once

#include "wire/codec.h"

namespace mrc::wire {

/// Decodes a UDP payload into out.packet, out.payload and out.reached. `out.cut` and
/// out.envelope.traffic_class say whether it may end early; out.datagram is what the iCRC covers.
Verdict parse_transport(Bytes udp_payload, const Settings& settings, Parsed& out);

/// Writes BTH and the headers after it. REQUIRES: room for header_size(packet).
void emit_transport(const Packet& packet, std::size_t payload, const Settings& settings, std::uint8_t* out);

constexpr std::uint8_t pad_for(std::size_t payload) { return static_cast<std::uint8_t>(-payload & 3); }

}  // namespace mrc::wire
