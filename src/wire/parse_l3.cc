// From Ethernet or IP down to the UDP payload.
#include <type_traits>

#include "wire/codec.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/srh.h"
#include "wire/transport.h"
#include "wire/udp.h"

namespace mrc::wire {
namespace {

// Copied, not constructed: a store of zeros by string instruction costs more than the whole header walk.
constexpr Parsed kNothing{};
static_assert(std::is_trivially_copyable_v<Parsed>);

/// What one parse carries along.
struct Walk {
  const Settings& settings;
  Parsed& out;
  bool allow_cut;

  /// Cuts `rest` to the length that a header announces. Fewer bytes than announced: only for packets that a
  /// switch trimmed or a capture cut. More: Ethernet pads short frames.
  Verdict fit(Bytes& rest, std::size_t announced) {
    if (rest.size() >= announced) {
      rest = rest.first(announced);
      return Verdict::ok;
    }
    // MRC-WIRE-051: a packet shorter than it says is refused, unless its class says that it was trimmed.
    if (!allow_cut && !is_trimmed(class_of(out.datagram.traffic_class >> 2, settings)))
      return Verdict::length_mismatch;
    out.cut = true;
    return Verdict::ok;
  }
};

// MRC-WIRE-033: what happened to the outer header happened to the packet (RFC 6040 for ECN): its DSCP is the
// one that switches rewrite when they trim, and its CE counts.
std::uint8_t merged_class(std::uint8_t outer, std::uint8_t inner) {
  const unsigned ce = static_cast<unsigned>(Ecn::ce);
  const unsigned ecn = (outer & 3u) == ce && (inner & 3u) != 0 ? ce : inner & 3u;
  return static_cast<std::uint8_t>((outer & 0xFCu) | ecn);
}

bool udp_checksum_ok(Bytes udp, const Walk& walk) {
  const UdpView view(udp);
  // MRC-WIRE-002: no checksum over IPv4; over IPv6 one over the final addresses, and none is accepted by
  // setting.
  if (view.checksum() == 0) return walk.out.datagram.is_v4() || walk.settings.accept_zero_udp6_checksum;
  Checksum sum;
  sum.add_udp_pseudo(walk.out.datagram.source, walk.out.datagram.destination,
                     static_cast<std::uint32_t>(udp.size()));
  sum.add(udp);
  return sum.sum() == 0xFFFF;
}

Verdict parse_udp(Bytes rest, Walk& walk) {
  const UdpView udp(rest);
  if (!udp) return Verdict::too_short;
  walk.out.datagram.source_port = udp.source_port();
  walk.out.datagram.destination_port = udp.destination_port();
  walk.out.reached = Reached::udp;
  // MRC-WIRE-007: one destination port is MRC's.
  if (udp.destination_port() != walk.settings.udp_port) return Verdict::not_mrc_port;
  walk.out.envelope = make_envelope(walk.out.datagram, walk.settings);
  const Ending ending = ending_of(walk.out.envelope.traffic_class, walk.out.cut);
  const bool early = ending != Ending::whole;
  if (!early && udp.length() != rest.size()) return Verdict::length_mismatch;
  if (!early && walk.settings.check_udp_checksum && !udp_checksum_ok(rest, walk))
    return Verdict::bad_udp_checksum;
  return parse_transport(rest.subspan(Udp::kSize), walk.out.datagram, ending, walk.settings, walk.out);
}

Verdict parse_ipv4(Bytes bytes, Walk& walk) {
  const Ipv4View ip(bytes);
  if (!ip) return Verdict::too_short;
  // MRC-WIRE-061: neither options nor fragments.
  if (ip.header_words() != 5 || ip.total_length() < Ipv4::kSize || !ip.checksum_ok())
    return Verdict::bad_ip_header;
  Datagram& d = walk.out.datagram;
  d.source = ip.source();
  d.destination = ip.destination();
  d.traffic_class = ip.tos();
  d.ipv4_id = ip.id();
  d.ipv4_fragment = ip.fragment();
  walk.out.encapsulation = Encapsulation::ipv4;
  walk.out.reached = Reached::ip;
  if (ip.is_fragment()) return Verdict::ip_fragment;
  if (ip.protocol() != kProtocolUdp) return Verdict::not_udp;
  if (const Verdict v = walk.fit(bytes, ip.total_length()); v != Verdict::ok) return v;
  return parse_udp(bytes.subspan(Ipv4::kSize), walk);
}

/// The IPv6 header that carries UDP. `outer_class`: of the header around it, when there is one.
Verdict parse_inner_ipv6(Bytes bytes, std::optional<std::uint8_t> outer_class, Walk& walk) {
  const Ipv6View ip(bytes);
  if (!ip) return Verdict::too_short;
  if (ip.version() != 6) return Verdict::bad_ip_version;
  // A mapped address stands for IPv4 in our values and must not come from an IPv6 header (RFC 4291).
  if (ip.source().is_v4() || ip.destination().is_v4()) return Verdict::bad_ip_header;
  Datagram& d = walk.out.datagram;
  d.source = ip.source();
  d.destination = ip.destination();
  d.flow_label = ip.flow_label();
  d.traffic_class = outer_class ? merged_class(*outer_class, ip.traffic_class()) : ip.traffic_class();
  if (!outer_class) walk.out.encapsulation = Encapsulation::ipv6;
  walk.out.reached = Reached::ip;
  if (ip.next_header() == kNextFragment) return Verdict::ip_fragment;
  if (ip.next_header() != kNextUdp) return Verdict::not_udp;
  bytes = bytes.subspan(Ipv6::kSize);
  if (const Verdict v = walk.fit(bytes, ip.payload_length()); v != Verdict::ok) return v;
  return parse_udp(bytes, walk);
}

Verdict parse_srh(Bytes& rest, Walk& walk) {
  const SrhView srh(rest);
  if (!srh || (walk.out.cut && srh.size() > rest.size())) return Verdict::too_short;
  if (!srh.ok() || srh.next_header() != kNextIpv6) return Verdict::bad_srh;
  rest = rest.subspan(srh.size());
  walk.out.encapsulation = Encapsulation::srv6_srh;
  return Verdict::ok;
}

// MRC-WIRE-001: UDP in IPv4, in IPv6, or in IPv6 in IPv6 (next header 41) with or without an SRH between.
Verdict parse_ipv6(Bytes bytes, Walk& walk) {
  const Ipv6View ip(bytes);
  if (!ip) return Verdict::too_short;
  if (ip.next_header() != kNextIpv6 && ip.next_header() != kNextRouting) {
    return parse_inner_ipv6(bytes, std::nullopt, walk);
  }
  walk.out.outer_source = ip.source();
  walk.out.outer_destination = ip.destination();
  walk.out.encapsulation = Encapsulation::srv6;
  walk.out.datagram.traffic_class = ip.traffic_class();
  Bytes rest = bytes.subspan(Ipv6::kSize);
  if (const Verdict v = walk.fit(rest, ip.payload_length()); v != Verdict::ok) return v;
  if (ip.next_header() == kNextRouting) {
    if (const Verdict v = parse_srh(rest, walk); v != Verdict::ok) return v;
  }
  return parse_inner_ipv6(rest, ip.traffic_class(), walk);
}

}  // namespace

Verdict parse_datagram(Bytes udp_payload, const Datagram& around, const Settings& settings, Parsed& out) {
  out = kNothing;
  out.datagram = around;
  out.reached = Reached::udp;
  if (around.destination_port != settings.udp_port) return Verdict::not_mrc_port;
  const Envelope envelope = make_envelope(around, settings);
  out.envelope = envelope;
  return parse_transport(udp_payload, around, ending_of(envelope.traffic_class), settings, out);
}

Verdict parse_l3(Bytes bytes, const Settings& settings, Parsed& out, CutPackets cut) {
  out = kNothing;
  Walk walk{settings, out, cut == CutPackets::allow};
  if (bytes.empty()) return Verdict::too_short;
  switch (bytes[0] >> 4) {
    case 4: return parse_ipv4(bytes, walk);
    case 6: return parse_ipv6(bytes, walk);
    default: return Verdict::bad_ip_version;
  }
}

Verdict parse_l2(Bytes frame, const Settings& settings, Parsed& out, CutPackets cut) {
  out = kNothing;
  const EthernetView ethernet(frame);
  if (!ethernet) return Verdict::too_short;
  std::uint16_t type = ethernet.type();
  Bytes rest = frame.subspan(Ethernet::kSize);
  while (is_vlan_tag(type) && rest.size() >= 4) {
    type = load16(rest.data() + 2);
    rest = rest.subspan(4);
  }
  if (type != kEtherIpv4 && type != kEtherIpv6) return Verdict::bad_ip_version;
  if (!rest.empty() && rest[0] >> 4 != (type == kEtherIpv4 ? 4 : 6)) return Verdict::bad_ip_version;
  return parse_l3(rest, settings, out, cut);
}

}  // namespace mrc::wire
