#include "fabric/bytes.h"

#include <algorithm>

#include "wire/datagram.h"
#include "wire/ethernet.h"
#include "wire/srh.h"
#include "wire/udp.h"

namespace mrc::fabric {
namespace {

using wire::Bytes;
using wire::MutableBytes;

constexpr std::size_t kL2 = wire::Ethernet::kSize;
constexpr std::size_t kHopLimit = 7, kDestination = 24;  // in the IPv6 header

mrc::Ipv6 destination_of(const wire::Ipv6View& ip) {
  mrc::Ipv6 a;
  std::copy_n(ip.data() + kDestination, 16, a.bytes.begin());
  return a;
}

/// The headers between two IPv6 headers, or between IPv6 and UDP.
struct Upper {
  std::uint8_t protocol = 0;
  std::size_t offset = 0;  // from the IPv6 header
};
Upper upper_of(Bytes l3) {
  const wire::Ipv6View ip(l3);
  Upper up{ip.next_header(), wire::Ipv6::kSize};
  if (up.protocol != wire::kNextRouting) return up;
  const wire::SrhView srh(l3.subspan(up.offset));
  if (!srh || !srh.ok()) return {0, l3.size()};
  return {srh.next_header(), up.offset + srh.size()};
}

/// What an ECMP hash sees: addresses folded, and the UDP source port as the EV's low half.
void read_flow(Bytes l3, const wire::Settings& settings, Frame& f) {
  std::uint32_t flow = 0;
  for (std::size_t at = 8; at < 40; at += 4) flow = flow * 0x9E3779B1u ^ wire::load32(l3.data() + at);
  f.flow = flow;
  const Upper up = upper_of(l3);
  const wire::UdpView udp(l3.subspan(std::min(up.offset, l3.size())));
  const std::uint32_t label = wire::Ipv6View(l3).flow_label() & 0xFFFF;
  const std::uint32_t port = up.protocol == wire::kNextUdp && udp ? udp.source_port() : 0;
  f.entropy = settings.ev_halves == wire::EvHalves::port_low ? label << 16 | port : port << 16 | label;
}

void read_usids(const mrc::Ipv6& destination, const ByteSettings& settings, Frame& f) {
  const int first = settings.locator.length / 16, count = std::min(8 - first, kUsidsPerCarrier);
  f.usids = {};
  for (int i = 0; i < count; ++i) f.usids[i] = destination.group(first + i);
  f.usid_at = 0;
}

// MRC-FAB-014: the carrier shifted left by the uSIDs consumed, zeros following.
void write_usids(const Frame& f, std::uint8_t* destination, const ByteSettings& settings) {
  const int first = settings.locator.length / 16, count = std::min(8 - first, kUsidsPerCarrier);
  for (int i = 0; i < count; ++i) {
    const int from = i + f.usid_at;
    const std::uint16_t usid = from < kUsidsPerCarrier ? f.usids[from] : std::uint16_t{0};
    wire::store16(destination + 2 * (first + i), usid);
  }
}

/// Sets ECN and, where a frame was trimmed, its class, in one IPv6 header.
void write_tos(const Frame& f, MutableBytes l3, const wire::Settings& settings) {
  const std::uint8_t tos = wire::tos_of(l3);
  std::uint8_t dscp = tos >> 2, ecn = tos & 3;
  if (wire::is_trimmed(f.traffic_class)) dscp = wire::dscp_of(f.traffic_class, settings);
  if (f.ecn == wire::Ecn::ce && ecn != 0) ecn = static_cast<std::uint8_t>(wire::Ecn::ce);
  wire::set_tos(l3, static_cast<std::uint8_t>(dscp << 2 | ecn));
}

}  // namespace

ReadFrame read_frame(Bytes frame, const ByteSettings& settings, Frame& f, std::size_t whole) {
  const wire::EthernetView eth(frame);
  if (!eth) return {Fate::too_short};
  if (eth.type() != wire::kEtherIpv6) return {Fate::not_ipv6};
  const Bytes l3 = frame.subspan(kL2);
  const wire::Ipv6View ip(l3);
  if (!ip) return {Fate::too_short};
  if (ip.version() != 6) return {Fate::not_ipv6};
  const std::size_t length = wire::Ipv6::kSize + ip.payload_length();
  if (kL2 + length > std::max(whole, frame.size())) return {Fate::too_short};

  f.bytes = static_cast<std::uint32_t>(kL2 + length);
  f.traffic_class = wire::class_of(static_cast<std::uint8_t>(ip.traffic_class() >> 2), settings.wire);
  f.ecn = static_cast<wire::Ecn>(ip.traffic_class() & 3);
  f.hop_limit = ip.hop_limit();
  read_flow(l3.first(std::min(length, l3.size())), settings.wire, f);
  const mrc::Ipv6 destination = destination_of(ip);
  if (settings.locator.contains(destination)) {
    read_usids(destination, settings, f);
    return {Fate::passed, Addressing::usid};
  }
  f.usid_at = 0;  // what an earlier frame in this memory had used up is no business of this one
  if (!settings.host_prefix.contains(destination)) return {Fate::outside_locator};
  f.destination = destination_key(destination.group(3), destination.group(7) - 1u);
  return {Fate::passed, Addressing::plain};
}

std::size_t write_frame(const Frame& f, MutableBytes frame, const ByteSettings& settings) {
  MutableBytes l3 = frame.subspan(kL2);
  l3[kHopLimit] = f.hop_limit;
  if (f.usid_at > 0) write_usids(f, l3.data() + kDestination, settings);
  write_tos(f, l3, settings.wire);
  const Upper up = upper_of(l3);
  if (settings.inner_too && up.protocol == wire::kNextIpv6 && up.offset + wire::Ipv6::kSize <= l3.size()) {
    write_tos(f, l3.subspan(up.offset), settings.wire);
  }
  const std::size_t length = kL2 + wire::Ipv6::kSize + wire::Ipv6View(l3).payload_length();
  if (f.bytes >= length) return length;
  return kL2 + wire::trim(l3, f.bytes - kL2, f.traffic_class, settings.wire, settings.trim_lengths);
}

// MRC-FAB-017: as the Linux kernel does it.
Routed route_bytes(const Switch& sw, const Switch& plain, MutableBytes frame, const ByteSettings& settings,
                   Frame& f, std::size_t whole) {
  for (;;) {  // each turn uses up a segment, of which there are at most 255
    const ReadFrame read = read_frame(frame, settings, f, whole);
    if (is_gone(read.fate)) return {{read.fate, 0}, read.addressing};
    const Switch::Route r = (read.addressing == Addressing::usid ? sw : plain).route(f);
    if (r.fate != Fate::carrier_spent || !next_segment(frame)) return {r, read.addressing};
  }
}

bool next_segment(MutableBytes frame) {
  MutableBytes l3 = frame.subspan(kL2);
  if (wire::Ipv6View(l3).next_header() != wire::kNextRouting) return false;
  MutableBytes routing = l3.subspan(wire::Ipv6::kSize);
  const wire::SrhView srh(routing);
  if (!srh || !srh.ok() || srh.segments_left() == 0) return false;
  const std::uint8_t left = srh.segments_left() - 1;
  if (left > srh.last_entry()) return false;
  routing[3] = left;
  const wire::IpAddress next = srh.segment(left);
  std::copy(next.bytes.begin(), next.bytes.end(), l3.begin() + kDestination);
  return true;
}

}  // namespace mrc::fabric
