// Around the transport headers: iCRC, UDP, IP, segment routing, Ethernet.
#include "wire/codec.h"
#include "wire/ethernet.h"
#include "wire/icrc.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/srh.h"
#include "wire/transport.h"
#include "wire/udp.h"

namespace mrc::wire {
namespace {

constexpr std::size_t kMaxUdp = 65535 - 200;  // IP counts in 16 bits, and other headers need room too

/// Padding and iCRC, over headers that are already written at `transport`.
void emit_tail(const Datagram& around, Bytes transport, Bytes payload, const Settings& settings, Tail& tail) {
  const std::uint8_t pad = pad_for(payload.size());
  tail = Tail{};
  tail.size = static_cast<std::uint8_t>(pad + kIcrcSize);
  if (!settings.emit_icrc) return;
  Icrc icrc(around, transport.data(), transport.size() + payload.size() + tail.size);
  icrc.add(transport.subspan(Icrc::kBthInHead));
  icrc.add(payload);
  icrc.add(Bytes(tail.bytes).first(pad));
  icrc.store(tail.bytes.data() + pad);
}

std::uint16_t udp_checksum(const Datagram& around, Bytes head, Bytes payload, Bytes tail) {
  Checksum sum;
  sum.add_udp_pseudo(around.source, around.destination,
                     static_cast<std::uint32_t>(head.size() + payload.size() + tail.size()));
  sum.add(head);
  sum.add(payload);
  sum.add(tail);
  return sum.value() == 0 ? 0xFFFF : sum.value();  // zero on the wire means "none"
}

/// IP headers up to UDP. `udp_length` counts UDP's header, payload and tail.
std::size_t emit_ip(const Datagram& d, const Route& route, std::size_t udp_length, const Settings& settings,
                    std::uint8_t* out) {
  if (d.is_v4()) {
    emit(Ipv4{d.source, d.destination, static_cast<std::uint16_t>(Ipv4::kSize + udp_length), d.ipv4_id,
              d.ipv4_fragment, d.traffic_class, settings.hop_limit},
         out);
    return Ipv4::kSize;
  }
  Ipv6 ip{d.source, d.destination, d.flow_label, static_cast<std::uint16_t>(udp_length), d.traffic_class};
  ip.hop_limit = settings.hop_limit;
  if (!route.usid_carrier) return emit(ip, out), Ipv6::kSize;

  const std::size_t srh = route.next_carrier ? Srh::kSize : 0;
  Ipv6 outer = ip;
  outer.source = route.outer_source.value_or(route.source);
  outer.destination = *route.usid_carrier;
  outer.next_header = route.next_carrier ? kNextRouting : kNextIpv6;
  outer.payload_length = static_cast<std::uint16_t>(srh + Ipv6::kSize + udp_length);
  emit(outer, out);
  if (route.next_carrier) emit(Srh{*route.next_carrier}, out + Ipv6::kSize);
  emit(ip, out + Ipv6::kSize + srh);
  return 2 * Ipv6::kSize + srh;
}

std::size_t ip_size(const Route& route) {
  if (route.source.is_v4()) return Ipv4::kSize;
  return Ipv6::kSize + (route.usid_carrier ? Ipv6::kSize + (route.next_carrier ? Srh::kSize : 0) : 0);
}

bool is_sound(const Route& r) {
  if (r.source.is_v4() != r.destination.is_v4()) return false;
  return r.usid_carrier ? !r.source.is_v4() : !r.next_carrier;
}

bool carries(const Packet& packet, Bytes payload) {
  return payload.empty() || std::holds_alternative<Write>(packet.body);
}

std::size_t join(std::size_t head, Bytes payload, const Tail& tail, MutableBytes out) {
  if (head == 0 || head + payload.size() + tail.size > out.size()) return 0;
  if (!payload.empty()) std::memcpy(out.data() + head, payload.data(), payload.size());
  std::memcpy(out.data() + head + payload.size(), tail.bytes.data(), tail.size);
  return head + payload.size() + tail.size;
}

}  // namespace

std::size_t emit_datagram_head(const Packet& packet, const Datagram& around, Bytes payload,
                               const Settings& settings, MutableBytes head, Tail& tail) {
  const std::size_t size = header_size(packet);
  if (size > head.size() || payload.size() > kMaxUdp || !carries(packet, payload)) return 0;
  emit_transport(packet, payload.size(), settings, head.data());
  emit_tail(around, head.first(size), payload, settings, tail);
  return size;
}

std::size_t emit_l3_head(const Packet& packet, const Envelope& envelope, const Route& route, Bytes payload,
                         const Settings& settings, MutableBytes head, Tail& tail) {
  const std::size_t before = ip_size(route) + Udp::kSize;
  if (!is_sound(route) || head.size() < before) return 0;
  const Datagram d = make_datagram(envelope, route.source, route.destination, settings);
  const std::size_t transport = emit_datagram_head(packet, d, payload, settings, head.subspan(before), tail);
  if (transport == 0) return 0;
  const std::size_t udp_length = Udp::kSize + transport + payload.size() + tail.size;
  std::uint8_t* udp = head.data() + emit_ip(d, route, udp_length, settings, head.data());
  emit(Udp{d.source_port, d.destination_port, static_cast<std::uint16_t>(udp_length), 0}, udp);
  // MRC-WIRE-002: zero over IPv4; over IPv6 a sum over the NICs' addresses, which no switch changes.
  if (!d.is_v4() && settings.emit_udp6_checksum) {
    store16(udp + 6, udp_checksum(d, Bytes(udp, Udp::kSize + transport), payload, tail));
  }
  return before + transport;
}

std::size_t emit_datagram(const Packet& packet, const Datagram& around, Bytes payload,
                          const Settings& settings, MutableBytes out) {
  Tail tail;
  return join(emit_datagram_head(packet, around, payload, settings, out, tail), payload, tail, out);
}

std::size_t emit_l3(const Packet& packet, const Envelope& envelope, const Route& route, Bytes payload,
                    const Settings& settings, MutableBytes out) {
  Tail tail;
  return join(emit_l3_head(packet, envelope, route, payload, settings, out, tail), payload, tail, out);
}

std::size_t emit_l2(const Packet& packet, const Envelope& envelope, const Route& route,
                    const MacAddress& source, const MacAddress& destination, Bytes payload,
                    const Settings& settings, MutableBytes out) {
  if (out.size() < Ethernet::kSize) return 0;
  const std::size_t l3 = emit_l3(packet, envelope, route, payload, settings, out.subspan(Ethernet::kSize));
  if (l3 == 0) return 0;
  const bool v4 = route.source.is_v4();
  emit(Ethernet{destination, source, v4 ? kEtherIpv4 : kEtherIpv6}, out.data());
  return Ethernet::kSize + l3;
}

}  // namespace mrc::wire
