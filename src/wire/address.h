// IP addresses (IPv4 as ::ffff:a.b.c.d, the way GIDs write it) and MAC addresses, as values and as text.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace mrc::wire {

struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};

  static constexpr IpAddress v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
    return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, a, b, c, d}};
  }
  static IpAddress v4_from(const std::uint8_t* p) { return v4(p[0], p[1], p[2], p[3]); }
  static IpAddress v6_from(const std::uint8_t* p) {
    IpAddress a;
    std::memcpy(a.bytes.data(), p, a.bytes.size());
    return a;
  }
  bool is_v4() const {
    std::uint64_t high;
    std::uint32_t mapped;
    std::memcpy(&high, bytes.data(), sizeof high);
    std::memcpy(&mapped, bytes.data() + 8, sizeof mapped);
    return high == 0 && mapped == 0xFFFF0000;  // 00 00 ff ff, little-endian
  }
  /// The four bytes of an IPv4 address. REQUIRES: is_v4().
  const std::uint8_t* v4_bytes() const { return bytes.data() + 12; }
  auto operator<=>(const IpAddress&) const = default;
};

struct MacAddress {
  std::array<std::uint8_t, 6> bytes{};
  auto operator<=>(const MacAddress&) const = default;
};

std::string to_string(const IpAddress& address);
std::string to_string(const MacAddress& address);
std::optional<IpAddress> parse_ip(std::string_view text);
std::optional<MacAddress> parse_mac(std::string_view text);

}  // namespace mrc::wire

template <>
struct std::hash<mrc::wire::IpAddress> {
  std::size_t operator()(const mrc::wire::IpAddress& a) const noexcept {
    return std::hash<std::string_view>{}({reinterpret_cast<const char*>(a.bytes.data()), a.bytes.size()});
  }
};
