#include "port/address.h"

#include <arpa/inet.h>
#include <net/if.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace mrc::port {
namespace {

constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

Error bad_address(std::string_view text) {
  return Error{EINVAL, "'" + std::string(text) + "' is not an IPv4 or IPv6 address"};
}

/// The zone of "fe80::1%eth0" or "fe80::1%3"; 0 when there is no such interface.
std::uint32_t parse_scope(const std::string& zone) {
  if (const unsigned index = if_nametoindex(zone.c_str()); index != 0) return index;
  return static_cast<std::uint32_t>(std::strtoul(zone.c_str(), nullptr, 10));
}

Address mapped(const void* four_bytes) {
  Address out;
  std::memcpy(out.ip.data(), kMapped.data(), kMapped.size());
  std::memcpy(out.ip.data() + kMapped.size(), four_bytes, 4);
  return out;
}

}  // namespace

bool Address::is_v4() const { return std::memcmp(ip.data(), kMapped.data(), kMapped.size()) == 0; }

bool Address::is_any() const {
  static constexpr std::array<std::uint8_t, 4> kZero{};
  if (is_v4()) return std::memcmp(ip.data() + 12, kZero.data(), 4) == 0;
  return ip == std::array<std::uint8_t, 16>{};
}

Result<Address> parse_address(std::string_view text) {
  const auto percent = text.find('%');
  const std::string bare(text.substr(0, percent));
  Address out;
  in_addr v4{};
  if (inet_pton(AF_INET, bare.c_str(), &v4) == 1 && percent == text.npos) return mapped(&v4);
  if (inet_pton(AF_INET6, bare.c_str(), out.ip.data()) != 1) return bad_address(text);
  if (percent == text.npos) return out;
  out.scope = parse_scope(std::string(text.substr(percent + 1)));
  if (out.scope == 0) return Error{ENODEV, "no interface '" + std::string(text.substr(percent + 1)) + "'"};
  return out;
}

std::string to_string(const Address& address) {
  char text[INET6_ADDRSTRLEN + 1 + IF_NAMESIZE] = {};
  if (address.is_v4()) {
    inet_ntop(AF_INET, address.ip.data() + 12, text, sizeof text);
    return text;
  }
  inet_ntop(AF_INET6, address.ip.data(), text, sizeof text);
  if (address.scope == 0) return text;
  return std::string(text) + "%" + std::to_string(address.scope);
}

void fill_v4(sockaddr_in& out, const Address& address, std::uint16_t udp_port) {
  out = {};
  out.sin_family = AF_INET;
  out.sin_port = htons(udp_port);
  std::memcpy(&out.sin_addr, address.ip.data() + 12, 4);
}

void fill_v6(sockaddr_in6& out, const Address& address, std::uint16_t udp_port, std::uint32_t flow_label) {
  out.sin6_family = AF_INET6;
  out.sin6_port = htons(udp_port);
  out.sin6_flowinfo = htonl(flow_label & 0xFFFFF);
  std::memcpy(&out.sin6_addr, address.ip.data(), 16);
  out.sin6_scope_id = address.scope;
}

SocketAddress to_socket_address(const Address& address, std::uint16_t udp_port, std::uint32_t flow_label) {
  SocketAddress out{};
  if (address.is_v4()) {
    fill_v4(out.v4, address, udp_port);
    out.size = sizeof out.v4;
  } else {
    fill_v6(out.v6, address, udp_port, flow_label);
    out.size = sizeof out.v6;
  }
  return out;
}

Address from_socket_address(const sockaddr& address) {
  if (address.sa_family == AF_INET) return mapped(&reinterpret_cast<const sockaddr_in&>(address).sin_addr);
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  Address out;
  std::memcpy(out.ip.data(), &v6.sin6_addr, 16);
  if (IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr)) out.scope = v6.sin6_scope_id;
  return out;
}

}  // namespace mrc::port
