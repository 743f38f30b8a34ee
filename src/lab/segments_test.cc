// Frames with several packets in them, taken apart.
#include "lab/segments.h"

#include <gtest/gtest.h>

#include <vector>

#include "wire/codec.h"
#include "wire/testing.h"

namespace mrc::lab {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes encapsulated(std::size_t payload) {
  Prng random(7);
  wire::Route route;
  for (std::size_t i = 0; i < 16; ++i)
    route.source.bytes[i] = static_cast<std::uint8_t>(0x20 + i), route.destination.bytes[i] = 0xFD;
  route.usid_carrier.emplace().bytes[0] = 0x5F;
  Bytes out(payload + 512);
  const auto packet = wire::testing::random_packet(wire::Opcode::write_only, random);
  out.resize(wire::emit_l2(packet, {}, route, {}, {}, wire::testing::random_bytes(payload, random), {}, out));
  return out;
}

std::uint32_t read16(const Bytes& b, std::size_t at) {
  return static_cast<std::uint32_t>(b[at] << 8 | b[at + 1]);
}

std::uint32_t sum_from(const Bytes& b, std::size_t at) {
  std::uint32_t sum = 0;
  for (; at < b.size(); at += 2)
    sum += static_cast<std::uint32_t>(b[at] << 8) + (at + 1 < b.size() ? b[at + 1] : 0u);
  return sum;
}
std::uint32_t fold(std::uint32_t sum) {
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  return sum;
}

TEST(Segments, EachPacketGetsItsLengthsAndItsSum) {
  const Bytes frame = encapsulated(1000);
  const auto s = find_segments(wire::Bytes(frame).first(200), frame.size(), 300);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->first_ip, 14u);
  EXPECT_EQ(s->last_ip, 54u);
  EXPECT_EQ(s->udp, 94u);
  EXPECT_EQ(s->count, (frame.size() - 102 + 299) / 300);
  std::size_t covered = 0;
  for (std::uint32_t i = 0; i < s->count; ++i) {
    Bytes one(frame.begin(), frame.begin() + s->payload);
    one.insert(one.end(), frame.begin() + s->offset(i), frame.begin() + s->offset(i) + s->size(i));
    write_segment_head(one, *s, s->size(i));
    covered += s->size(i);
    EXPECT_EQ(read16(one, 14 + 4), one.size() - 14 - 40);
    EXPECT_EQ(read16(one, 54 + 4), one.size() - 54 - 40);
    EXPECT_EQ(read16(one, 94 + 4), one.size() - 94);
    // What a device makes of the field: the sum of all from the UDP header on. Beside it, from the
    // definition.
    const std::uint32_t by_device = fold(sum_from(one, 94));
    Bytes zeroed = one;
    zeroed[100] = zeroed[101] = 0;
    std::uint32_t defined = sum_from(zeroed, 94) + 17 + static_cast<std::uint32_t>(one.size() - 94);
    for (std::size_t at = 54 + 8; at < 94; at += 2) defined += read16(one, at);
    EXPECT_EQ(by_device, fold(defined));
  }
  EXPECT_EQ(covered, frame.size() - 102);
}

TEST(Segments, WithoutEthernetOffsetsAreIntoThePacket) {
  const Bytes frame = encapsulated(1000);
  const auto s = find_ip_segments(wire::Bytes(frame).subspan(14), frame.size() - 14, 300);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->first_ip, 0u);
  EXPECT_EQ(s->last_ip, 40u);
  EXPECT_EQ(s->udp, 80u);
  EXPECT_EQ(s->bytes, frame.size() - 102);
}

TEST(Segments, WhatIsNotUdpOverIpv6IsRefused) {
  const Bytes frame = encapsulated(1000);
  for (std::size_t cut = 0; cut < 102; ++cut)
    EXPECT_FALSE(find_segments(wire::Bytes(frame).first(cut), frame.size(), 300)) << cut;
  EXPECT_FALSE(find_segments(frame, frame.size(), 0));
  EXPECT_FALSE(find_segments(frame, 102, 300));
  for (const std::size_t at : {12u, 14u, 20u, 54u, 60u}) {
    Bytes wrong = frame;
    wrong[at] ^= 0x55;
    EXPECT_FALSE(find_segments(wrong, wrong.size(), 300)) << at;
  }
}

}  // namespace
}  // namespace mrc::lab
