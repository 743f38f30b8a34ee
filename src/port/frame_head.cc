#include "port/frame_head.h"

#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/srh.h"
#include "wire/udp.h"

namespace mrc::port {
namespace {

wire::IpAddress ip(const Address& address) { return {address.ip}; }

void emit_v4(const TxTrain& packet, const FrameRoute& route, std::uint16_t udp_length, std::uint8_t* out) {
  wire::Ipv4 header{ip(route.from), ip(*packet.to)};
  header.total_length = static_cast<std::uint16_t>(wire::Ipv4::kSize + udp_length);
  header.tos = packet.tos;
  header.ttl = route.hop_limit;
  wire::emit(header, out);
}

/// MRC-PORT-006: the outer header is the inner one with another destination: same class, same flow label, one
/// address family.
std::size_t emit_v6(const TxTrain& packet, const FrameRoute& route, std::uint16_t udp_length,
                    std::uint8_t* out) {
  wire::Ipv6 header{ip(route.from), ip(*packet.to), packet.flow_label, udp_length, packet.tos};
  header.hop_limit = route.hop_limit;
  std::size_t size = 0;
  if (packet.outer != nullptr) {
    wire::Ipv6 around = header;
    around.destination = ip(*packet.outer);
    // MRC-PORT-007: what one carrier can not hold goes on in an SRH, which the switch that ends the first one
    // obeys.
    const std::size_t srh = packet.outer_next != nullptr ? wire::Srh::kSize : 0;
    around.next_header = srh != 0 ? wire::kNextRouting : wire::kNextIpv6;
    around.payload_length = static_cast<std::uint16_t>(srh + wire::Ipv6::kSize + udp_length);
    wire::emit(around, out);
    if (srh != 0) wire::emit(wire::Srh{ip(*packet.outer_next)}, out + wire::Ipv6::kSize);
    size = wire::Ipv6::kSize + srh;
  }
  wire::emit(header, out + size);
  return size + wire::Ipv6::kSize;
}

}  // namespace

std::size_t frame_head_size(const TxTrain& packet) {
  const std::size_t inner = packet.to->is_v4() ? wire::Ipv4::kSize : wire::Ipv6::kSize;
  const std::size_t outer = packet.outer != nullptr ? wire::Ipv6::kSize : 0;
  const std::size_t srh = packet.outer_next != nullptr ? wire::Srh::kSize : 0;
  return wire::Ethernet::kSize + outer + srh + inner + wire::Udp::kSize;
}

void emit_frame_head(const TxTrain& packet, const FrameRoute& route, std::uint8_t* out) {
  const bool v4 = packet.to->is_v4();
  const auto udp_length = static_cast<std::uint16_t>(wire::Udp::kSize + packet.packet_bytes);
  wire::emit(wire::Ethernet{route.next_hop, route.source_mac, v4 ? wire::kEtherIpv4 : wire::kEtherIpv6}, out);
  out += wire::Ethernet::kSize;
  if (v4) {
    emit_v4(packet, route, udp_length, out);
    out += wire::Ipv4::kSize;
  } else {
    out += emit_v6(packet, route, udp_length, out);
  }
  wire::emit(wire::Udp{packet.source_port, route.udp_port, udp_length, 0}, out);
}

}  // namespace mrc::port
