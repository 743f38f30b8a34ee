// From a captured frame to its IP packet, for the link types that captures of MRC come in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace mrc::tools {

using Bytes = std::span<const std::uint8_t>;

/// What can stand before the IP header; from libpcap's DLT_* numbers.
enum class LinkType : std::uint8_t { ethernet, linux_cooked_v1, linux_cooked_v2, raw_ip, null_loopback };

std::optional<LinkType> link_type_of(int dlt);

/// The bytes from the IP header on, or nothing when the frame is short or holds something else (ARP, LLDP,
/// ...). Ethernet: up to two VLAN tags are passed over.
std::optional<Bytes> ip_packet(LinkType link, Bytes frame);

}  // namespace mrc::tools
