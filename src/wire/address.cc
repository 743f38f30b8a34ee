#include "wire/address.h"

#include <arpa/inet.h>

#include <cstdio>

namespace mrc::wire {

std::string to_string(const IpAddress& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.is_v4()) {
    inet_ntop(AF_INET, address.v4_bytes(), text, sizeof text);
  } else {
    inet_ntop(AF_INET6, address.bytes.data(), text, sizeof text);
  }
  return text;
}

std::string to_string(const MacAddress& address) {
  const auto& b = address.bytes;
  char text[18];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4], b[5]);
  return text;
}

std::optional<IpAddress> parse_ip(std::string_view text) {
  const std::string terminated(text);
  std::uint8_t raw[16];
  if (inet_pton(AF_INET, terminated.c_str(), raw) == 1) return IpAddress::v4_from(raw);
  if (inet_pton(AF_INET6, terminated.c_str(), raw) == 1) return IpAddress::v6_from(raw);
  return std::nullopt;
}

std::optional<MacAddress> parse_mac(std::string_view text) {
  unsigned b[6];
  char rest = 0;
  const std::string terminated(text);
  if (std::sscanf(terminated.c_str(), "%2x:%2x:%2x:%2x:%2x:%2x%c", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5],
                  &rest) != 6) {
    return std::nullopt;
  }
  MacAddress mac;
  for (std::size_t i = 0; i < 6; ++i) mac.bytes[i] = static_cast<std::uint8_t>(b[i]);
  return mac;
}

}  // namespace mrc::wire
