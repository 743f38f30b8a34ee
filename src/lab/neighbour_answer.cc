#include "lab/neighbour_answer.h"

#include <algorithm>

#include "wire/checksum.h"
#include "wire/ethernet.h"
#include "wire/ipv6.h"

namespace mrc::lab {
namespace {

constexpr std::uint8_t kIcmpv6 = 58, kSolicitation = 135, kAdvertisement = 136, kTargetMac = 2;
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

}  // namespace

std::size_t answer_solicitation(wire::Bytes frame, const Ipv6& own, const wire::MacAddress& mac,
                                wire::MutableBytes out) {
  if (!asks_for(frame, own) || out.size() < kNeighbourAnswerBytes) return 0;
  const wire::IpAddress asker = wire::Ipv6View(frame.subspan(kL2)).source();
  if (asker == wire::IpAddress{})
    return 0;  // somebody checks for a duplicate of an address of ours: let him find out
  std::fill(out.begin(), out.begin() + kNeighbourAnswerBytes, std::uint8_t{0});
  emit(wire::Ethernet{wire::EthernetView(frame).source(), mac, wire::kEtherIpv6}, out.data());
  wire::Ipv6 ip;
  ip.source.bytes = own.bytes;
  ip.destination = asker;
  ip.payload_length = kMessage;
  ip.next_header = kIcmpv6;
  ip.hop_limit = 255;
  emit(ip, out.data() + kL2);
  std::uint8_t* icmp = out.data() + kL2 + kL3;
  icmp[0] = kAdvertisement;
  wire::store32(icmp + 4, kSolicitedOverride);
  std::copy(own.bytes.begin(), own.bytes.end(), icmp + kTarget);
  icmp[24] = kTargetMac;
  icmp[25] = 1;  // in units of 8 bytes
  std::copy(mac.bytes.begin(), mac.bytes.end(), icmp + 26);
  wire::store16(icmp + 2, icmp_checksum(ip, wire::Bytes(icmp, kMessage)));
  return kNeighbourAnswerBytes;
}

}  // namespace mrc::lab
