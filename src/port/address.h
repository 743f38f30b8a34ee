// An IP address as a port sees it: IPv6, or IPv4 in its mapped form (::ffff:a.b.c.d), and the link it is
// local to.
#pragma once

#include <netinet/in.h>

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mrc::port {

struct Address {
  std::array<std::uint8_t, 16> ip{};  // network order; a GID has the same bytes
  std::uint32_t scope = 0;            // interface index of a link-local IPv6 address, else 0

  bool is_v4() const;
  bool is_any() const;
  bool operator==(const Address&) const = default;
};

/// "10.0.0.1", "fd00::1", "fe80::1%eth0".
Result<Address> parse_address(std::string_view text);
std::string to_string(const Address& address);

/// A socket address of either family. `flow_label` has no place in IPv4 and is dropped there.
struct SocketAddress {
  union {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
  };
  socklen_t size;
};
SocketAddress to_socket_address(const Address& address, std::uint16_t udp_port, std::uint32_t flow_label = 0);
Address from_socket_address(const sockaddr& address);

/// Shortcuts for the hot path: fill in place, so that a burst's addresses live in one array.
void fill_v4(sockaddr_in& out, const Address& address, std::uint16_t udp_port);
void fill_v6(sockaddr_in6& out, const Address& address, std::uint16_t udp_port, std::uint32_t flow_label);

}  // namespace mrc::port
