// BTH and what follows it: the part of a packet that is MRC. Used by the codec at every level.
#pragma once

#include "wire/codec.h"

namespace mrc::wire {

/// Where a packet may end.
enum class Ending : std::uint8_t { whole, trimmed, cut };
constexpr Ending ending_of(TrafficClass c, bool cut = false) {
  return is_trimmed(c) ? Ending::trimmed : cut ? Ending::cut : Ending::whole;
}

/// Decodes a UDP payload into out.packet, out.payload and out.reached. `around` is what the iCRC covers. Both
/// it and the ending are in `out` too, but just written there: reading them back would wait until the last
/// packet's payload is stored.
Verdict parse_transport(Bytes udp_payload, const Datagram& around, Ending ending, const Settings& settings,
                        Parsed& out);

/// Writes BTH and the headers after it. REQUIRES: room for header_size(packet).
void emit_transport(const Packet& packet, std::size_t payload, const Settings& settings, std::uint8_t* out);

constexpr std::uint8_t pad_for(std::size_t payload) { return static_cast<std::uint8_t>(-payload & 3); }

}  // namespace mrc::wire
