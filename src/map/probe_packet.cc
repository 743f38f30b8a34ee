#include "map/probe_packet.h"

#include "wire/checksum.h"
#include "wire/ipv6.h"
#include "wire/srh.h"
#include "wire/udp.h"

namespace mrc::map {
namespace {

constexpr std::uint32_t kMagic = 0x4D524370;
constexpr std::uint8_t kVersion = 1;

wire::IpAddress ip(const Ipv6& a) { return {a.bytes}; }

/// UDP over the NICs' addresses, with its checksum: kernels drop IPv6 datagrams without one.
void write_udp(const wire::Ipv6& inner, std::uint16_t port, const ProbePacket& p, std::uint8_t* out) {
  const auto length = static_cast<std::uint16_t>(wire::Udp::kSize + ProbePacket::kSize);
  wire::emit(wire::Udp{port, port, length, 0}, out);
  emit(p, out + wire::Udp::kSize);
  wire::Checksum sum;
  sum.add_udp_pseudo(inner.source, inner.destination, length);
  sum.add(wire::Bytes(out, length));
  wire::store16(out + 6, sum.value() == 0 ? 0xFFFF : sum.value());
}

}  // namespace

void emit(const ProbePacket& p, std::uint8_t* out) {
  wire::store32(out, kMagic);
  out[4] = kVersion;
  out[5] = static_cast<std::uint8_t>(p.name.shape);
  out[6] = static_cast<std::uint8_t>(p.name.tier);
  out[7] = p.leg;
  out[8] = p.name.plane;
  out[9] = p.name.other_plane;
  wire::store16(out + 10, p.name.uplink0);
  wire::store16(out + 12, p.name.uplink1);
  wire::store16(out + 14, p.name.other_uplink);
  wire::store32(out + 16, p.name.other);
  wire::store32(out + 20, p.host.value);
  wire::store32(out + 24, p.sequence);
  wire::store32(out + 28, 0);
  wire::store64(out + 32, p.nonce);
}

std::optional<ProbePacket> parse_probe(wire::Bytes bytes) {
  if (bytes.size() != ProbePacket::kSize) return std::nullopt;
  const std::uint8_t* b = bytes.data();
  if (wire::load32(b) != kMagic || b[4] != kVersion || b[5] >= kShapes) return std::nullopt;
  if (b[6] > static_cast<std::uint8_t>(topo::Tier::t2) || b[7] >= kMaxLegs) return std::nullopt;
  ProbePacket p;
  p.name.shape = static_cast<Shape>(b[5]);
  p.name.tier = static_cast<topo::Tier>(b[6]);
  p.leg = b[7];
  p.name.plane = b[8];
  p.name.other_plane = b[9];
  p.name.uplink0 = wire::load16(b + 10);
  p.name.uplink1 = wire::load16(b + 12);
  p.name.other_uplink = wire::load16(b + 14);
  p.name.other = wire::load32(b + 16);
  p.host = HostId(wire::load32(b + 20));
  p.sequence = wire::load32(b + 24);
  p.nonce = wire::load64(b + 32);
  return p;
}

ProbeFrame make_frame(const topo::Topology& topo, const Itinerary& way, const ProbePacket& p,
                      const Settings& settings) {
  const Leg& leg = way.legs[p.leg];
  const LegCarriers route = carriers(topo, leg);
  const bool last = p.leg + 1 == way.count;
  wire::Ipv6 inner{ip(topo.address(leg.from, leg.plane)), ip(topo.address(leg.to, leg.plane))};
  inner.payload_length = wire::Udp::kSize + ProbePacket::kSize;
  inner.traffic_class = static_cast<std::uint8_t>(settings.dscp << 2);
  inner.hop_limit = settings.hop_limit;
  // MRC-WIRE-001: more uSIDs than one carrier holds go on in an SRH.
  const std::size_t srh = route.count > 1 ? wire::Srh::kSize : 0;
  wire::Ipv6 outer = inner;
  outer.destination = ip(route.addresses[0]);
  outer.next_header = srh > 0 ? wire::kNextRouting : wire::kNextIpv6;
  outer.payload_length = static_cast<std::uint16_t>(srh + wire::Ipv6::kSize + inner.payload_length);

  ProbeFrame out;
  std::uint8_t* at = out.bytes.data();
  wire::emit(outer, at);
  if (srh > 0) wire::emit(wire::Srh{ip(route.addresses[1])}, at + wire::Ipv6::kSize);
  at += wire::Ipv6::kSize + srh;
  wire::emit(inner, at);
  write_udp(inner, static_cast<std::uint16_t>(settings.udp_port + (last ? 0 : 1)), p, at + wire::Ipv6::kSize);
  out.size = wire::Ipv6::kSize + outer.payload_length;
  out.first_carrier = route.addresses[0];
  return out;
}

}  // namespace mrc::map
