// What surrounds a UDP payload: addresses, ports, flow label, DSCP and ECN. A kernel socket tells it beside
// the bytes; a frame holds it in its headers. The EV and the traffic class live here, and the iCRC covers
// part of it.
#pragma once

#include "wire/address.h"
#include "wire/ipv4.h"
#include "wire/packet.h"
#include "wire/settings.h"

namespace mrc::wire {

struct Datagram {
  IpAddress source, destination;  // of the NICs; in SRv6 mode those of the inner header. Both of one version
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint32_t flow_label = 0;    // IPv6 only
  std::uint8_t traffic_class = 0;  // DSCP (7:2), ECN (1:0): the TOS byte of IPv4
  // The iCRC of an IPv4 packet covers these two. A socket does not show them: it sends and assumes these
  // values.
  std::uint16_t ipv4_id = 0;
  std::uint16_t ipv4_fragment = kDontFragment;

  bool is_v4() const { return source.is_v4(); }
  bool operator==(const Datagram&) const = default;
};

std::uint8_t dscp_of(TrafficClass traffic_class, const Settings& settings);
/// A DSCP that no class has (a bleached packet, say) means no_trim.
TrafficClass class_of(std::uint8_t dscp, const Settings& settings);

/// The path and class that a datagram came with. `port` stays unset: only the receiver knows where it
/// arrived.
Envelope make_envelope(const Datagram& datagram, const Settings& settings);
/// The datagram that carries a packet on `envelope`'s path, in its class.
Datagram make_datagram(const Envelope& envelope, const IpAddress& source, const IpAddress& destination,
                       const Settings& settings);

}  // namespace mrc::wire
