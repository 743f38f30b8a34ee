#include "wire/mark.h"

#include <algorithm>

#include "wire/datagram.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/srh.h"
#include "wire/udp.h"

namespace mrc::wire {
namespace {

std::uint8_t version_of(Bytes l3) {
  if (l3.size() >= Ipv4::kSize && l3[0] >> 4 == 4) return 4;
  return l3.size() >= Ipv6::kSize && l3[0] >> 4 == 6 ? 6 : 0;
}

void fix_udp(MutableBytes udp, const IpAddress& source, const IpAddress& destination) {
  if (udp.size() < Udp::kSize) return;
  store16(udp.data() + 4, static_cast<std::uint16_t>(udp.size()));
  store16(udp.data() + 6, 0);
  if (source.is_v4()) return;
  Checksum sum;
  sum.add_udp_pseudo(source, destination, static_cast<std::uint32_t>(udp.size()));
  sum.add(udp);
  store16(udp.data() + 6, sum.value() == 0 ? 0xFFFF : sum.value());
}

/// Makes the lengths of an IPv6 packet true, header by header down to UDP.
void fix_ipv6(MutableBytes at) {
  while (at.size() >= Ipv6::kSize) {
    const Ipv6 ip = Ipv6View(at).value();
    MutableBytes rest = at.subspan(Ipv6::kSize);
    store16(at.data() + 4, static_cast<std::uint16_t>(rest.size()));
    std::uint8_t next = ip.next_header;
    if (const SrhView srh(rest); next == kNextRouting && srh && srh.ok()) {
      next = srh.next_header();
      rest = rest.subspan(srh.size());
    }
    if (next == kNextUdp) fix_udp(rest, ip.source, ip.destination);
    if (next != kNextIpv6) return;
    at = rest;
  }
}

void fix_lengths(MutableBytes l3) {
  if (version_of(l3) == 6) return fix_ipv6(l3);
  store16(l3.data() + 2, static_cast<std::uint16_t>(l3.size()));
  store_ipv4_checksum(l3.data());
  fix_udp(l3.subspan(Ipv4::kSize), Ipv4View(l3).source(), Ipv4View(l3).destination());
}

}  // namespace

std::uint8_t tos_of(Bytes l3) {
  switch (version_of(l3)) {
    case 4: return Ipv4View(l3).tos();
    case 6: return Ipv6View(l3).traffic_class();
    default: return 0;
  }
}

void set_tos(MutableBytes l3, std::uint8_t tos) {
  switch (version_of(l3)) {
    case 4:
      l3[1] = tos;
      store_ipv4_checksum(l3.data());
      break;
    case 6: store16(l3.data(), static_cast<std::uint16_t>((load16(l3.data()) & 0xF00Fu) | tos << 4)); break;
    default: break;
  }
}

bool mark_ce(MutableBytes l3) {
  const std::uint8_t tos = tos_of(l3);
  if ((tos & 3) == static_cast<std::uint8_t>(Ecn::not_ect)) return false;
  set_tos(l3, tos | static_cast<std::uint8_t>(Ecn::ce));
  return true;
}

std::size_t trim(MutableBytes l3, std::size_t size, TrafficClass to, const Settings& settings,
                 TrimLengths lengths) {
  if (version_of(l3) == 0) return l3.size();
  set_tos(l3, static_cast<std::uint8_t>(dscp_of(to, settings) << 2 | (tos_of(l3) & 3)));
  const std::size_t left = std::min(l3.size(), std::max(size, Ipv6::kSize));
  if (left < l3.size() && lengths == TrimLengths::fix) fix_lengths(l3.first(left));
  return left;
}

}  // namespace mrc::wire
