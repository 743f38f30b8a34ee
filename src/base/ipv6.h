// An IPv6 address as a value, with its text form both ways. Bytes are in network order.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mrc {

struct Ipv6 {
  std::array<std::uint8_t, 16> bytes{};

  constexpr auto operator<=>(const Ipv6&) const = default;

  /// The address as eight 16-bit groups; group 0 is the leftmost.
  constexpr std::uint16_t group(int i) const {
    return static_cast<std::uint16_t>(bytes[2 * i] << 8 | bytes[2 * i + 1]);
  }
  constexpr void set_group(int i, std::uint16_t v) {
    bytes[2 * i] = static_cast<std::uint8_t>(v >> 8);
    bytes[2 * i + 1] = static_cast<std::uint8_t>(v);
  }
};

/// A prefix: the bits of `address` beyond `length` are zero.
struct Ipv6Prefix {
  Ipv6 address;
  int length = 128;

  constexpr bool operator==(const Ipv6Prefix&) const = default;
  bool contains(const Ipv6& a) const;
};

std::string to_string(const Ipv6& a);
std::string to_string(const Ipv6Prefix& p);
std::optional<Ipv6> parse_ipv6(std::string_view text);
/// "fcbb:bb00::/32". A prefix with bits set beyond its length is refused.
std::optional<Ipv6Prefix> parse_ipv6_prefix(std::string_view text);

}  // namespace mrc
