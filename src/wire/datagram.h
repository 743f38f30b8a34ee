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

// MRC-WIRE-030: over IPv6 EV[15:0] is the UDP source port and EV[31:16] the low half of the flow label.
// MRC-WIRE-031: over IPv4 the source port is all there is.
inline Ev ev_of(const Datagram& d, EvHalves halves) {
  if (d.is_v4()) return Ev(d.source_port);
  const std::uint32_t label = d.flow_label & 0xFFFF;
  const std::uint32_t port = d.source_port;
  return Ev(halves == EvHalves::port_low ? label << 16 | port : port << 16 | label);
}

inline std::uint8_t dscp_of(TrafficClass traffic_class, const Settings& s) {
  switch (traffic_class) {
    case TrafficClass::no_trim: return s.dscp_no_trim;
    case TrafficClass::trimmable: return s.dscp_trimmable;
    case TrafficClass::trimmable_retx: return s.dscp_trimmable_retx;
    case TrafficClass::control: return s.dscp_control;
    case TrafficClass::trimmed: return s.dscp_trimmed;
    case TrafficClass::trimmed_lasthop: return s.dscp_trimmed_lasthop;
  }
  return s.dscp_no_trim;
}

/// A DSCP that no class has (a bleached packet, say) means no_trim.
inline TrafficClass class_of(std::uint8_t dscp, const Settings& s) {
  if (dscp == s.dscp_trimmable) return TrafficClass::trimmable;
  if (dscp == s.dscp_control) return TrafficClass::control;
  if (dscp == s.dscp_trimmed) return TrafficClass::trimmed;
  if (dscp == s.dscp_trimmed_lasthop) return TrafficClass::trimmed_lasthop;
  if (dscp == s.dscp_trimmable_retx) return TrafficClass::trimmable_retx;
  return TrafficClass::no_trim;
}

/// The path and class that a datagram came with. `port` stays unset: only the receiver knows where it
/// arrived.
inline Envelope make_envelope(const Datagram& d, const Settings& settings) {
  Envelope e;
  e.ev = ev_of(d, settings.ev_halves);
  // MRC-WIRE-032: the class is the DSCP's, by the deployment's numbers.
  e.traffic_class = class_of(d.traffic_class >> 2, settings);
  e.ecn = Ecn(d.traffic_class & 3);
  return e;
}

/// The datagram that carries a packet on `envelope`'s path, in its class.
inline Datagram make_datagram(const Envelope& e, const IpAddress& source, const IpAddress& destination,
                              const Settings& settings) {
  Datagram d;
  d.source = source;
  d.destination = destination;
  d.destination_port = settings.udp_port;
  const bool swapped = !source.is_v4() && settings.ev_halves == EvHalves::port_high;
  d.source_port = static_cast<std::uint16_t>(swapped ? e.ev.value >> 16 : e.ev.value);
  if (!source.is_v4()) d.flow_label = swapped ? e.ev.value & 0xFFFF : e.ev.value >> 16;
  d.traffic_class =
      static_cast<std::uint8_t>(dscp_of(e.traffic_class, settings) << 2 | static_cast<unsigned>(e.ecn));
  return d;
}

}  // namespace mrc::wire
