#include "lab/neighbour.h"

#include <algorithm>

#include "wire/checksum.h"
#include "wire/ethernet.h"
#include "wire/ipv6.h"

namespace mrc::lab {
namespace {

constexpr std::uint8_t kIcmpv6 = 58, kSolicitation = 135, kAdvertisement = 136, kSourceMac = 1,
                       kTargetMac = 2;
constexpr std::size_t kL2 = wire::Ethernet::kSize, kL3 = wire::Ipv6::kSize;
constexpr std::size_t kTarget = 8;  // in the ICMP message
constexpr std::uint32_t kSolicitedOverride = 0x60000000;
constexpr std::size_t kMessage = 32;

bool asks_for(wire::Bytes frame, const Ipv6& own) {
  if (frame.size() < kL2 + kL3 + kTarget + 16) return false;
  const wire::Ipv6View ip(frame.subspan(kL2));
  const std::uint8_t* icmp = frame.data() + kL2 + kL3;
  return wire::EthernetView(frame).type() == wire::kEtherIpv6 && ip.version() == 6 &&
         ip.next_header() == kIcmpv6 && ip.hop_limit() == 255 && icmp[0] == kSolicitation && icmp[1] == 0 &&
         std::equal(own.bytes.begin(), own.bytes.end(), icmp + kTarget);
}

std::uint16_t icmp_checksum(const wire::Ipv6& ip, wire::Bytes message) {
  wire::Checksum sum;
  std::uint8_t tail[8] = {};
  wire::store32(tail, static_cast<std::uint32_t>(message.size()));
  tail[7] = kIcmpv6;
  sum.add(ip.source.bytes);
  sum.add(ip.destination.bytes);
  sum.add(tail);
  sum.add(message);
  return sum.value();
}

/// A whole message about `target`: Ethernet, IPv6 and ICMP with one option that holds our MAC address.
std::size_t write_message(std::uint8_t type, std::uint32_t flags, const Ipv6& target,
                          const wire::Ethernet& eth, const wire::Ipv6& ip, std::uint8_t option,
                          wire::MutableBytes out) {
  std::fill(out.begin(), out.begin() + kNeighbourBytes, std::uint8_t{0});
  emit(eth, out.data());
  emit(ip, out.data() + kL2);
  std::uint8_t* icmp = out.data() + kL2 + kL3;
  icmp[0] = type;
  wire::store32(icmp + 4, flags);
  std::copy(target.bytes.begin(), target.bytes.end(), icmp + kTarget);
  icmp[24] = option;
  icmp[25] = 1;  // in units of 8 bytes
  std::copy(eth.source.bytes.begin(), eth.source.bytes.end(), icmp + 26);
  wire::store16(icmp + 2, icmp_checksum(ip, wire::Bytes(icmp, kMessage)));
  return kNeighbourBytes;
}

wire::Ipv6 ip_header(const Ipv6& from, const wire::IpAddress& to) {
  wire::Ipv6 ip;
  ip.source.bytes = from.bytes;
  ip.destination = to;
  ip.payload_length = kMessage;
  ip.next_header = kIcmpv6;
  ip.hop_limit = 255;
  return ip;
}

}  // namespace

std::size_t answer_solicitation(wire::Bytes frame, const Ipv6& own, const wire::MacAddress& mac,
                                wire::MutableBytes out) {
  if (!asks_for(frame, own) || out.size() < kNeighbourBytes) return 0;
  const wire::IpAddress asker = wire::Ipv6View(frame.subspan(kL2)).source();
  if (asker == wire::IpAddress{})
    return 0;  // he checks for a duplicate of an address of ours: let him find out
  const wire::Ethernet eth{wire::EthernetView(frame).source(), mac, wire::kEtherIpv6};
  return write_message(kAdvertisement, kSolicitedOverride, own, eth, ip_header(own, asker), kTargetMac, out);
}

std::size_t make_solicitation(const Ipv6& target, const Ipv6& own, const wire::MacAddress& mac,
                              wire::MutableBytes out) {
  if (out.size() < kNeighbourBytes) return 0;
  wire::IpAddress group{{0xFF, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF}};  // ff02::1:ff and the last 24 bits
  wire::MacAddress group_mac{{0x33, 0x33, 0xFF}};
  std::copy(target.bytes.begin() + 13, target.bytes.end(), group.bytes.begin() + 13);
  std::copy(target.bytes.begin() + 13, target.bytes.end(), group_mac.bytes.begin() + 3);
  const wire::Ethernet eth{group_mac, mac, wire::kEtherIpv6};
  return write_message(kSolicitation, 0, target, eth, ip_header(own, group), kSourceMac, out);
}

}  // namespace mrc::lab
