#include "lab/segments.h"

#include <algorithm>

#include "wire/ethernet.h"

namespace mrc::lab {
namespace {

constexpr std::uint8_t kUdp = 17, kIpv6InIpv6 = 41, kRouting = 43;
constexpr std::size_t kIpv6Bytes = 40, kUdpBytes = 8;
constexpr int kMostHeaders = 4;  // outer IPv6, SRH, inner IPv6, UDP

std::uint16_t read16(wire::Bytes b, std::size_t at) {
  return static_cast<std::uint16_t>(b[at] << 8 | b[at + 1]);
}
void write16(wire::MutableBytes b, std::size_t at, std::uint32_t value) {
  b[at] = static_cast<std::uint8_t>(value >> 8);
  b[at + 1] = static_cast<std::uint8_t>(value);
}

/// Offset of the UDP header, from that of the first IPv6 header; notes all of these on the way. 0: there is
/// none.
std::size_t walk(wire::Bytes head, std::size_t at, Segments& s) {
  std::uint8_t next = kIpv6InIpv6;
  s.first_ip = static_cast<std::uint16_t>(at);
  for (int i = 0; i < kMostHeaders && next != kUdp; ++i) {
    if (next == kIpv6InIpv6 && at + kIpv6Bytes <= head.size() && head[at] >> 4 == 6) {
      s.last_ip = static_cast<std::uint16_t>(at);
      next = head[at + 6];
      at += kIpv6Bytes;
    } else if (next == kRouting && at + 8 <= head.size()) {
      next = head[at];
      at += 8 + std::size_t{head[at + 1]} * 8;
    } else {
      return 0;
    }
  }
  return next == kUdp && at + kUdpBytes <= head.size() ? at : 0;
}

/// The pseudo-header of RFC 8200, summed up and folded, not complemented.
std::uint16_t pseudo_sum(wire::Bytes head, const Segments& s, std::uint32_t udp_bytes) {
  std::uint32_t sum = udp_bytes + kUdp;
  for (std::size_t at = s.last_ip + 8u; at < s.last_ip + kIpv6Bytes; at += 2) sum += read16(head, at);
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

std::optional<Segments> find_from(std::size_t ip, wire::Bytes head, std::size_t frame_bytes,
                                  std::uint32_t each) {
  Segments s;
  const std::size_t udp = each == 0 ? 0 : walk(head, ip, s);
  if (udp == 0 || frame_bytes <= udp + kUdpBytes) return std::nullopt;
  s.udp = static_cast<std::uint16_t>(udp);
  s.payload = static_cast<std::uint32_t>(udp + kUdpBytes);
  s.bytes = static_cast<std::uint32_t>(frame_bytes - s.payload);
  s.each = each;
  s.count = (s.bytes + each - 1) / each;
  return s;
}

}  // namespace

std::optional<Segments> find_segments(wire::Bytes head, std::size_t frame_bytes, std::uint32_t each) {
  if (head.size() < wire::Ethernet::kSize || read16(head, 12) != wire::kEtherIpv6) return std::nullopt;
  return find_from(wire::Ethernet::kSize, head, frame_bytes, each);
}

std::optional<Segments> find_ip_segments(wire::Bytes head, std::size_t packet_bytes, std::uint32_t each) {
  return find_from(0, head, packet_bytes, each);
}

void write_segment_head(wire::MutableBytes head, const Segments& s, std::uint32_t payload_bytes) {
  const std::uint32_t end = s.payload + payload_bytes, udp_bytes = end - s.udp;
  write16(head, s.first_ip + 4u, end - s.first_ip - static_cast<std::uint32_t>(kIpv6Bytes));
  write16(head, s.last_ip + 4u, end - s.last_ip - static_cast<std::uint32_t>(kIpv6Bytes));
  write16(head, s.udp + 4u, udp_bytes);
  write16(head, s.udp + 6u, pseudo_sum(head, s, udp_bytes));
}

}  // namespace mrc::lab
