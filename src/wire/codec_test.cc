// The codec both ways, at every level, with random values: what goes in comes out.
#include "wire/codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "wire/testing.h"

namespace mrc::wire {
namespace {

using testing::kFrames;
using testing::kOpcodes;

constexpr Settings kSettings;

std::vector<std::uint8_t> payload_for(const Packet& packet, Prng& prng) {
  const auto* w = std::get_if<Write>(&packet.body);
  if (w == nullptr) return {};
  return testing::random_bytes(ends(w->segment) ? prng.below(4097) : 256u << prng.below(5), prng);
}

void expect_same(Packet sent, const Parsed& got, Bytes payload) {
  if (auto* w = std::get_if<Write>(&sent.body)) w->payload = static_cast<std::uint16_t>(payload.size());
  EXPECT_EQ(sent, got.packet);
  EXPECT_TRUE(std::ranges::equal(payload, got.payload));
  EXPECT_EQ(got.reached, Reached::everything);
  EXPECT_FALSE(got.cut);
}

// MRC-WIRE-001, MRC-WIRE-003, MRC-WIRE-010, MRC-WIRE-011, MRC-WIRE-012: each kind of packet in each
// encapsulation.
TEST(Codec, EveryPacketInEveryFrameComesBack) {
  Prng prng(11);
  std::vector<std::uint8_t> out(5000);
  for (int round = 0; round < 50; ++round) {
    for (const Opcode op : kOpcodes) {
      for (const Encapsulation encapsulation : kFrames) {
        const Packet packet = testing::random_packet(op, prng);
        const Envelope envelope =
            testing::random_envelope(packet, encapsulation == Encapsulation::ipv4, prng);
        const Route route = testing::random_route(encapsulation, prng);
        const auto payload = payload_for(packet, prng);
        const std::size_t n = emit_l3(packet, envelope, route, payload, kSettings, out);
        ASSERT_GT(n, 0u);
        Parsed parsed;
        ASSERT_EQ(parse_l3(Bytes(out).first(n), kSettings, parsed), Verdict::ok);
        expect_same(packet, parsed, payload);
        EXPECT_EQ(parsed.envelope, envelope);
        EXPECT_EQ(parsed.encapsulation, encapsulation);
        EXPECT_EQ(Opcode{parsed.opcode}, op);
        EXPECT_EQ(parsed.datagram.source, route.source);
        EXPECT_EQ(parsed.datagram.destination, route.destination);
        EXPECT_EQ(parsed.outer_destination, route.usid_carrier.value_or(IpAddress{}));
      }
    }
  }
}

TEST(Codec, DatagramsComeBackWithTheirPathAndClass) {
  Prng prng(12);
  std::vector<std::uint8_t> out(5000);
  for (int round = 0; round < 200; ++round) {
    for (const Opcode op : kOpcodes) {
      const bool v4 = prng.below(2) == 0;
      const Packet packet = testing::random_packet(op, prng);
      const Envelope envelope = testing::random_envelope(packet, v4, prng);
      const Route route = testing::random_route(v4 ? Encapsulation::ipv4 : Encapsulation::ipv6, prng);
      const Datagram around = make_datagram(envelope, route.source, route.destination, kSettings);
      const auto payload = payload_for(packet, prng);
      const std::size_t n = emit_datagram(packet, around, payload, kSettings, out);
      Parsed parsed;
      ASSERT_EQ(parse_datagram(Bytes(out).first(n), around, kSettings, parsed), Verdict::ok);
      expect_same(packet, parsed, payload);
      EXPECT_EQ(parsed.envelope, envelope);
    }
  }
}

TEST(Codec, ASocketAndAFrameWriteTheSameBytes) {
  Prng prng(13);
  for (const bool v4 : {true, false}) {
    const Packet packet = testing::random_packet(Opcode::write_only_imm, prng);
    const Envelope envelope = testing::random_envelope(packet, v4, prng);
    const Route route = testing::random_route(v4 ? Encapsulation::ipv4 : Encapsulation::ipv6, prng);
    const auto payload = testing::random_bytes(77, prng);
    std::vector<std::uint8_t> frame(600), datagram(600);
    frame.resize(emit_l3(packet, envelope, route, payload, kSettings, frame));
    const Datagram around = make_datagram(envelope, route.source, route.destination, kSettings);
    datagram.resize(emit_datagram(packet, around, payload, kSettings, datagram));
    EXPECT_TRUE(std::ranges::equal(Bytes(frame).last(datagram.size()), datagram));
  }
}

TEST(Codec, HeadPayloadAndTailAreTheWhole) {
  Prng prng(14);
  const Packet packet = testing::random_packet(Opcode::write_only, prng);
  const Route route = testing::random_route(Encapsulation::srv6_srh, prng);
  for (std::size_t size = 0; size < 9; ++size) {
    const auto payload = testing::random_bytes(size, prng);
    std::vector<std::uint8_t> whole(600), head(kMaxHead);
    whole.resize(emit_l3(packet, {}, route, payload, kSettings, whole));
    Tail tail;
    head.resize(emit_l3_head(packet, {}, route, payload, kSettings, head, tail));
    head.insert(head.end(), payload.begin(), payload.end());
    const Bytes tail_bytes = tail;
    head.insert(head.end(), tail_bytes.begin(), tail_bytes.end());
    EXPECT_EQ(head, whole);
  }
}

TEST(Codec, EthernetAndVlanTagsAreLeftBehind) {
  Prng prng(15);
  const Packet packet = testing::random_packet(Opcode::sack, prng);
  const Route route = testing::random_route(Encapsulation::ipv6, prng);
  std::vector<std::uint8_t> out(300);
  out.resize(emit_l2(packet, {}, route, {{2, 0, 0, 0, 0, 1}}, {{2, 0, 0, 0, 0, 2}}, {}, kSettings, out));
  Parsed parsed;
  EXPECT_EQ(parse_l2(out, kSettings, parsed), Verdict::ok);
  EXPECT_EQ(parsed.packet, packet);
  const std::uint8_t tag[] = {0x81, 0x00, 0x00, 0x05};
  out.insert(out.begin() + 12, std::begin(tag), std::end(tag));
  EXPECT_EQ(parse_l2(out, kSettings, parsed), Verdict::ok);
  EXPECT_EQ(parsed.packet, packet);
  out.resize(out.size() + 7);  // Ethernet padding
  EXPECT_EQ(parse_l2(out, kSettings, parsed), Verdict::ok);
}

TEST(Codec, RefusesToEmitWhatDoesNotFit) {
  Prng prng(16);
  const Packet sack = testing::random_packet(Opcode::sack, prng);
  const Packet write = testing::random_packet(Opcode::write_only, prng);
  const Route v6 = testing::random_route(Encapsulation::ipv6, prng);
  std::vector<std::uint8_t> out(70000);
  const std::size_t n = emit_l3(sack, {}, v6, {}, kSettings, out);
  for (std::size_t room = 0; room < n; ++room) {
    std::vector<std::uint8_t> small(room);  // a write beyond it is the address sanitizer's
    EXPECT_EQ(emit_l3(sack, {}, v6, {}, kSettings, small), 0u);
  }
  const auto huge = testing::random_bytes(65500, prng);
  EXPECT_EQ(emit_l3(write, {}, v6, huge, kSettings, out), 0u);
  EXPECT_EQ(emit_l3(sack, {}, v6, Bytes(huge).first(4), kSettings, out), 0u);  // only writes carry a payload
  Route mixed = v6;
  mixed.source = IpAddress::v4(10, 0, 0, 1);
  EXPECT_EQ(emit_l3(sack, {}, mixed, {}, kSettings, out), 0u);
}

}  // namespace
}  // namespace mrc::wire
