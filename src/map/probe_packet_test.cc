// A probe's bytes, both ways, and a few that are none.
#include "map/probe_packet.h"

#include <gtest/gtest.h>

#include "map/plan.h"
#include "wire/codec.h"

namespace mrc::map {
namespace {

ProbePacket some_probe() {
  ProbePacket p;
  p.host = HostId(5);
  p.name = {Shape::detour, topo::Tier::t1, 1, 2, 3, 4, 5, 0x01020304};
  p.leg = 1;
  p.sequence = 77;
  p.nonce = 0x1122334455667788;
  return p;
}

TEST(ProbePacket, ComesBackAsItLeft) {
  std::array<std::uint8_t, ProbePacket::kSize> bytes;
  emit(some_probe(), bytes.data());
  EXPECT_EQ(parse_probe(bytes), some_probe());
}

TEST(ProbePacket, OtherBytesAreNone) {
  std::array<std::uint8_t, ProbePacket::kSize> bytes;
  emit(some_probe(), bytes.data());
  EXPECT_FALSE(parse_probe(wire::Bytes(bytes).first(ProbePacket::kSize - 1)));
  for (const std::size_t at : {0u, 4u, 5u, 6u, 7u}) {  // magic, version, shape, tier, leg
    auto bad = bytes;
    bad[at] = 0xFF;
    EXPECT_FALSE(parse_probe(bad)) << at;
  }
}

/// Names come from other nodes: whatever they say, no way leaves the fabric.
TEST(ProbePacket, NonsenseNamesHaveNoWay) {
  const auto topo = *topo::Topology::make({.planes = 2, .tiers = 2, .t0 = 2, .t1 = 2, .hosts_per_t0 = 2});
  std::uint32_t ways = 0;
  for (std::uint32_t n = 0; n < 200'000; ++n) {
    const auto pick = [&](std::uint32_t shift, std::uint32_t below) {
      return (n * 2654435761u >> shift) % below;
    };
    ProbeName name{static_cast<Shape>(pick(3, kShapes)),    static_cast<topo::Tier>(pick(7, 4)),
                   static_cast<std::uint8_t>(pick(1, 4)),   static_cast<std::uint8_t>(pick(9, 4)),
                   static_cast<std::uint16_t>(pick(11, 4)), static_cast<std::uint16_t>(pick(13, 4)),
                   static_cast<std::uint16_t>(pick(15, 4)), pick(17, 6)};
    const auto way = itinerary(topo, HostId(n % 6), name);
    if (!way) continue;
    ++ways;
    for (const topo::Hop h : hops(topo, *way)) ASSERT_LT(h.link.value, topo.links());
  }
  EXPECT_GT(ways, 100u);
}

// MRC-WIRE-001: beyond one carrier the rest of the way is in an SRH.
TEST(ProbePacket, ALongWayTakesASecondCarrier) {
  const auto topo = *topo::Topology::make({.planes = 1, .tiers = 2, .t0 = 2, .t1 = 2, .hosts_per_t0 = 1});
  ProbePacket p;
  p.name = {Shape::detour, topo::Tier::t1, 0, 0, 0, 0, 1, 1};
  const auto way = itinerary(topo, p.host, p.name);
  ASSERT_TRUE(way);
  ASSERT_EQ(way->legs[0].count, 7);  // and the host: eight uSIDs, six fit
  const ProbeFrame frame = make_frame(topo, *way, p, {});
  EXPECT_EQ(frame.size, ProbePacket::kMaxFrame);
  wire::Settings settings;
  settings.udp_port = Settings{}.udp_port;
  wire::Parsed parsed;
  const Verdict verdict = wire::parse_l3(wire::Bytes(frame.bytes.data(), frame.size), settings, parsed);
  EXPECT_EQ(parsed.encapsulation, wire::Encapsulation::srv6_srh);
  EXPECT_EQ(parsed.datagram.destination_port, settings.udp_port);
  EXPECT_NE(verdict, Verdict::bad_udp_checksum);
  EXPECT_NE(verdict, Verdict::length_mismatch);
}

}  // namespace
}  // namespace mrc::map
