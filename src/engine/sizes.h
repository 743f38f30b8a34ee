// How many bytes a packet counts for congestion control: UDP length + 40, at both ends.
#pragma once

#include <cstdint>

#include "wire/packet.h"

namespace mrc::engine {

inline constexpr std::uint32_t kUdp = 8, kBth = 12, kMeth = 4, kTseth = 4, kReth = 16, kImmDt = 4, kIcrc = 4;
inline constexpr std::uint32_t kCcOverhead = 40;  // MRC-CC-022: what a packet counts beside its UDP length

/// UDP length of a write packet: headers, payload padded to four bytes, iCRC.
constexpr std::uint32_t udp_length(std::uint32_t payload, bool has_timestamp, bool has_imm) {
  return kUdp + kBth + kMeth + (has_timestamp ? kTseth : 0) + kReth + (has_imm ? kImmDt : 0) +
         ((payload + 3u) & ~3u) + kIcrc;
}
constexpr std::uint32_t cc_bytes(std::uint32_t payload, bool has_timestamp, bool has_imm) {
  return udp_length(payload, has_timestamp, has_imm) + kCcOverhead;
}
constexpr std::uint32_t udp_length(const wire::Write& w) {
  return udp_length(w.payload, w.has_timestamp, w.has_imm);
}
constexpr std::uint32_t cc_bytes(const wire::Write& w) {
  return cc_bytes(w.payload, w.has_timestamp, w.has_imm);
}

/// The most that a packet of this path MTU can count.
constexpr std::uint32_t cc_bytes_max(std::uint32_t mtu) {
  return kUdp + kBth + kMeth + kTseth + kReth + kImmDt + mtu + kIcrc + kCcOverhead;
}

}  // namespace mrc::engine
