// A probe on the wire: IPv6 in IPv6 with the leg's uSIDs, then UDP, then 40 bytes that say whose probe it is.
//
//   0 magic "MRCp"   4 version, shape, tier, leg   8 plane, other plane   10 uplink0   12 uplink1   14 y
//   16 other   20 host   24 sequence   28 zero   32 nonce
#pragma once

#include <optional>

#include "map/itinerary.h"
#include "map/settings.h"
#include "wire/bytes.h"

namespace mrc::map {

struct ProbePacket {
  static constexpr std::size_t kSize = 40;
  static constexpr std::size_t kMaxFrame = 40 + 24 + 40 + 8 + kSize;  // outer, SRH, inner, UDP
  HostId host;                                                        // whose probe it is
  ProbeName name;
  std::uint8_t leg = 0;  // the one that it is on
  std::uint32_t sequence = 0;
  std::uint64_t nonce = 0;  // the prober's secret: nobody else can make an answer up
  bool operator==(const ProbePacket&) const = default;
};

void emit(const ProbePacket& p, std::uint8_t* out);
/// Nothing when these are not the bytes of a probe. What it names is not checked here.
std::optional<ProbePacket> parse_probe(wire::Bytes bytes);

/// From the outer IPv6 header on; the first carrier is its destination.
struct ProbeFrame {
  std::array<std::uint8_t, ProbePacket::kMaxFrame> bytes{};
  std::size_t size = 0;
  Ipv6 first_carrier;
};
/// The probe on its leg `p.leg` of `way`. The last leg goes to `udp_port`, others to the one after it.
ProbeFrame make_frame(const topo::Topology& topo, const Itinerary& way, const ProbePacket& p,
                      const Settings& settings);

}  // namespace mrc::map
