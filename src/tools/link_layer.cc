#include "tools/link_layer.h"

#include <pcap/dlt.h>

namespace mrc::tools {
namespace {

constexpr std::uint16_t kIpv4 = 0x0800, kIpv6 = 0x86DD, kVlan = 0x8100, kServiceVlan = 0x88A8;

std::uint16_t u16(Bytes b, std::size_t at) { return static_cast<std::uint16_t>(b[at] << 8 | b[at + 1]); }

bool is_ip(std::uint16_t ether_type) { return ether_type == kIpv4 || ether_type == kIpv6; }

/// `type_at` holds an EtherType and the payload begins at `size`.
std::optional<Bytes> after_type(Bytes frame, std::size_t type_at, std::size_t size) {
  if (frame.size() < size || !is_ip(u16(frame, type_at))) return std::nullopt;
  return frame.subspan(size);
}

std::optional<Bytes> after_ethernet(Bytes frame) {
  std::size_t type_at = 12;
  for (int tags = 0; tags < 2 && frame.size() >= type_at + 6; ++tags, type_at += 4) {
    const std::uint16_t type = u16(frame, type_at);
    if (type != kVlan && type != kServiceVlan) break;
  }
  return after_type(frame, type_at, type_at + 2);
}

/// No type field: the version nibble is all that there is.
std::optional<Bytes> after_nothing(Bytes frame) {
  if (frame.empty() || (frame[0] >> 4 != 4 && frame[0] >> 4 != 6)) return std::nullopt;
  return frame;
}

}  // namespace

std::optional<LinkType> link_type_of(int dlt) {
  constexpr int kLinkTypeRaw = 101, kLinkTypeIpv4 = 228, kLinkTypeIpv6 = 229, kLinkTypeSll2 = 276;
  switch (dlt) {
    case DLT_EN10MB: return LinkType::ethernet;
    case DLT_LINUX_SLL: return LinkType::linux_cooked_v1;
    case kLinkTypeSll2: return LinkType::linux_cooked_v2;
    case DLT_RAW:
    case kLinkTypeRaw:
    case kLinkTypeIpv4:
    case kLinkTypeIpv6: return LinkType::raw_ip;
    case DLT_NULL: return LinkType::null_loopback;
    default: return std::nullopt;
  }
}

std::optional<Bytes> ip_packet(LinkType link, Bytes frame) {
  switch (link) {
    case LinkType::ethernet: return after_ethernet(frame);
    case LinkType::linux_cooked_v1: return after_type(frame, 14, 16);
    case LinkType::linux_cooked_v2: return after_type(frame, 0, 20);
    case LinkType::raw_ip: return after_nothing(frame);
    case LinkType::null_loopback: return frame.size() < 4 ? std::nullopt : after_nothing(frame.subspan(4));
  }
  return std::nullopt;
}

}  // namespace mrc::tools
