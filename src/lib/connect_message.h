// What two sides of openmrc/connect.h say to each other, and how it looks as bytes.
//
// A message is a 32-bit length (of what follows), a type, and its body; everything big-endian. Lengths are
// bounded before anything is allocated for them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "lib/device_types.h"

namespace mrc::lib::connect {

inline constexpr std::uint16_t kVersion = 1;        // newest that we speak
inline constexpr std::uint16_t kOldestVersion = 1;  // and oldest
inline constexpr std::size_t kMaxMessage = 512 * 1024;

enum class Type : std::uint8_t {
  hello = 1,    // who we are, what we can
  ready = 2,    // our queue pairs accept packets
  refused = 3,  // a sentence; nothing follows
  data = 4,     // openmrc_exchange
  bye = 5,
};

struct QpName {
  std::uint32_t qpn = 0;
  std::uint32_t psn = 0;
  bool operator==(const QpName&) const = default;
};

struct Hello {
  std::uint16_t version = kVersion, oldest = kOldestVersion;
  Gid gid{};
  std::uint8_t mtu = 0;  // enum ibv_mtu
  std::uint8_t mpr_dest = 0;
  std::uint16_t max_wimm_dest = 0;
  bool dynamic_mpr = false, trim_nack = false, service_time = false;
  std::vector<QpName> qps;
  std::vector<std::uint8_t> data;
  bool operator==(const Hello&) const = default;
};

using Message = std::vector<std::uint8_t>;  // type and body, without the length

Message emit(const Hello& hello);
Message emit(Type type, std::span<const std::uint8_t> body = {});
/// EPROTO when the bytes are no hello. A hello of another version is parsed as far as its versions.
Result<Hello> parse_hello(std::span<const std::uint8_t> body);

/// What follows from both hellos; the error says which side has to change.
struct Agreement {
  std::uint8_t mtu = 0;
  std::uint8_t mpr = 0;
  std::uint16_t max_wimm = 0;
  bool dynamic_mpr = false, peer_trim_nack = false, peer_service_time = false;
};
Result<Agreement> agree(const Hello& ours, const Hello& theirs, const Limits& limits);

}  // namespace mrc::lib::connect
