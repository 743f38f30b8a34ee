#include "port/frame_view.h"

#include <algorithm>

#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/srh.h"
#include "wire/udp.h"

namespace mrc::port {
namespace {

using wire::Bytes;

Address to_address(const wire::IpAddress& ip) { return {ip.bytes, 0}; }

/// At most what the IP header announces: short frames are padded by Ethernet. A coalesced frame may announce
/// less than it has (its length doesn't fit), a trimmed one more.
Bytes cut(Bytes bytes, std::size_t announced, bool coalesced) {
  return coalesced ? bytes : bytes.first(std::min(bytes.size(), announced));
}

std::optional<FrameContent> open_udp(Bytes bytes, FrameContent content) {
  const wire::UdpView udp(bytes);
  if (!udp) return std::nullopt;
  content.source_port = udp.source_port();
  content.destination_port = udp.destination_port();
  const Bytes payload = bytes.subspan(wire::Udp::kSize);
  content.payload = reinterpret_cast<const std::byte*>(payload.data());
  content.payload_size = static_cast<std::uint32_t>(payload.size());
  return content;
}

std::optional<FrameContent> open_v4(Bytes bytes, bool coalesced) {
  const wire::Ipv4View ip(bytes);
  if (!ip || ip.version() != 4 || ip.header_words() != 5 || ip.is_fragment()) return std::nullopt;
  if (ip.protocol() != wire::kProtocolUdp || ip.total_length() < wire::Ipv4::kSize) return std::nullopt;
  FrameContent content;
  content.from = to_address(ip.source());
  content.to = to_address(ip.destination());
  content.tos = ip.tos();
  return open_udp(cut(bytes, ip.total_length(), coalesced).subspan(wire::Ipv4::kSize), content);
}

/// What happened to the outer header happened to the packet: its DSCP counts, and its CE where the inner one
/// is ECN-capable.
std::uint8_t merged_class(std::uint8_t outer, std::uint8_t inner) {
  constexpr std::uint8_t kEcn = 3;
  const bool marked = (outer & kEcn) == kEcn && (inner & kEcn) != 0;
  return static_cast<std::uint8_t>((outer & ~kEcn) | (marked ? kEcn : inner & kEcn));
}

/// Past a segment routing header, if that is what `next` says. Nothing when it is none, or when it says that
/// the packet has not arrived yet: the rest of its way is somebody else's.
Bytes skip_routing(Bytes bytes, std::uint8_t& next) {
  if (next != wire::kNextRouting) return bytes;
  const wire::SrhView srh(bytes);
  if (!srh || !srh.ok() || srh.segments_left() != 0 || srh.next_header() != wire::kNextIpv6) return {};
  next = srh.next_header();
  return bytes.subspan(srh.size());
}

std::optional<FrameContent> open_v6(Bytes bytes, bool coalesced) {
  const wire::Ipv6View outer(bytes);
  if (!outer || outer.version() != 6) return std::nullopt;
  FrameContent content;
  std::uint8_t next = outer.next_header();
  Bytes inside = cut(bytes, wire::Ipv6::kSize + outer.payload_length(), coalesced).subspan(wire::Ipv6::kSize);
  inside = skip_routing(inside, next);
  const wire::Ipv6View ip(next == wire::kNextIpv6 ? inside : bytes);
  if (!ip || ip.version() != 6) return std::nullopt;
  if (next == wire::kNextIpv6) {
    content.encapsulated = true;
    content.outer_from = to_address(outer.source());
    content.outer_to = to_address(outer.destination());
    next = ip.next_header();
    inside = cut(inside, wire::Ipv6::kSize + ip.payload_length(), coalesced).subspan(wire::Ipv6::kSize);
  }
  if (next != wire::kNextUdp) return std::nullopt;
  content.from = to_address(ip.source());
  content.to = to_address(ip.destination());
  content.flow_label = ip.flow_label();
  content.tos = merged_class(outer.traffic_class(), ip.traffic_class());
  return open_udp(inside, content);
}

}  // namespace

std::optional<FrameContent> open_frame(const RxPacket& frame) {
  const Bytes bytes(reinterpret_cast<const std::uint8_t*>(frame.data), frame.size);
  const wire::EthernetView ethernet(bytes);
  if (!ethernet) return std::nullopt;
  const Bytes inside = bytes.subspan(wire::Ethernet::kSize);
  if (ethernet.type() == wire::kEtherIpv6) return open_v6(inside, frame.coalesced != 0);
  if (ethernet.type() == wire::kEtherIpv4) return open_v4(inside, frame.coalesced != 0);
  return std::nullopt;
}

}  // namespace mrc::port
