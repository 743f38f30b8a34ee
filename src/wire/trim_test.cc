// Marked and trimmed packets: what a switch leaves of a packet, and what a receiver can still say about it.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "wire/codec.h"
#include "wire/mark.h"
#include "wire/testing.h"

namespace mrc::wire {
namespace {

using Vec = std::vector<std::uint8_t>;
constexpr Settings kSettings;

struct Sent {
  Packet packet;
  Vec bytes;
};

Sent sent_write(Encapsulation e, std::size_t payload = 1024) {
  Prng prng(31);
  Sent s{testing::random_packet(Opcode::write_only_imm, prng), Vec(5000)};
  std::get_if<Write>(&s.packet.body)->has_timestamp = true;
  std::get_if<Write>(&s.packet.body)->timestamp = {77};
  const Vec bytes = testing::random_bytes(payload, prng);
  s.bytes.resize(emit_l3(s.packet, {}, testing::random_route(e, prng), bytes, kSettings, s.bytes));
  return s;
}

// MRC-WIRE-050, MRC-WIRE-052: at the usual size every header survives, and the payload that is left is not
// placed.
TEST(Trim, TheUsualSizeKeepsEveryHeader) {
  for (const Encapsulation e : testing::kFrames) {
    for (const TrafficClass c : {TrafficClass::trimmed, TrafficClass::trimmed_lasthop}) {
      for (const TrimLengths lengths : {TrimLengths::keep, TrimLengths::fix}) {
        Sent s = sent_write(e);
        s.bytes.resize(trim(s.bytes, 256, c, kSettings, lengths));
        ASSERT_EQ(s.bytes.size(), 256u);
        Parsed parsed;
        ASSERT_EQ(parse_l3(s.bytes, kSettings, parsed), Verdict::trimmed_ok);
        EXPECT_EQ(parsed.envelope.traffic_class, c);
        EXPECT_EQ(parsed.cut, lengths == TrimLengths::keep);
        EXPECT_EQ(parsed.packet, s.packet);  // Write::payload is 0 in both
        EXPECT_TRUE(parsed.payload.empty());
      }
    }
  }
}

TEST(Trim, EachHeaderThatIsLeftIsDecoded) {
  const Sent s = sent_write(Encapsulation::srv6);
  const std::size_t bth = 40 + 40 + 8;
  struct Case {
    std::size_t size;
    Verdict verdict;
    Reached reached;
  };
  for (const Case c :
       {Case{bth + 11, Verdict::trimmed_too_short, Reached::udp},
        Case{bth + 12, Verdict::trimmed_ok, Reached::bth}, Case{bth + 16, Verdict::trimmed_ok, Reached::meth},
        Case{bth + 20, Verdict::trimmed_ok, Reached::tseth},
        Case{bth + 36, Verdict::trimmed_ok, Reached::reth},  // 124 bytes: the least that SRv6 needs
        Case{bth + 40, Verdict::trimmed_ok, Reached::everything}}) {
    Vec bytes = s.bytes;
    bytes.resize(trim(bytes, c.size, TrafficClass::trimmed, kSettings));
    Parsed parsed;
    EXPECT_EQ(parse_l3(bytes, kSettings, parsed), c.verdict) << c.size;
    EXPECT_EQ(parsed.reached, c.reached);
    if (c.verdict != Verdict::trimmed_ok) continue;
    EXPECT_EQ(parsed.packet.psn, s.packet.psn);
    EXPECT_EQ(parsed.packet.dqpn, s.packet.dqpn);
    EXPECT_EQ(parsed.packet.opcode(), s.packet.opcode());
  }
}

TEST(Trim, WhatIsCutIsTooShortWhereverTheCutFalls) {
  for (const Encapsulation e : testing::kFrames) {
    const Sent s = sent_write(e);
    for (std::size_t size = 40; size < 128; ++size) {
      Vec bytes = s.bytes;
      bytes.resize(trim(bytes, size, TrafficClass::trimmed, kSettings));
      Parsed parsed;
      const Verdict v = parse_l3(bytes, kSettings, parsed);
      EXPECT_TRUE(v == Verdict::trimmed_ok || v == Verdict::trimmed_too_short || v == Verdict::too_short)
          << name(v);
      EXPECT_EQ(v == Verdict::trimmed_ok, parsed.reached >= Reached::bth);
    }
  }
}

// MRC-WIRE-033: the switch saw only the outer header, and what it wrote there counts.
TEST(Trim, TheOuterHeaderSpeaksForThePacket) {
  Sent s = sent_write(Encapsulation::srv6);
  EXPECT_TRUE(mark_ce(s.bytes));
  Parsed parsed;
  ASSERT_EQ(parse_l3(s.bytes, kSettings, parsed), Verdict::ok);
  EXPECT_EQ(parsed.envelope.ecn, Ecn::ce);
  EXPECT_EQ(parsed.envelope.traffic_class, TrafficClass::trimmable);
}

TEST(Trim, APacketWithoutEcnIsNotMarked) {
  for (const Encapsulation e : {Encapsulation::ipv4, Encapsulation::ipv6}) {
    Vec bytes = sent_write(e).bytes;
    set_tos(bytes, 18 << 2);
    EXPECT_FALSE(mark_ce(bytes));
    EXPECT_EQ(tos_of(bytes), 18 << 2);
  }
}

// MRC-WIRE-032: DSCP numbers are the deployment's.
TEST(Trim, ClassesFollowTheSettings) {
  Settings other;
  other.dscp_trimmed = 5;
  Vec bytes = sent_write(Encapsulation::ipv4).bytes;
  bytes.resize(trim(bytes, 256, TrafficClass::trimmed, other));
  Parsed parsed;
  EXPECT_EQ(parse_l3(bytes, other, parsed), Verdict::trimmed_ok);
  EXPECT_EQ(parse_l3(bytes, kSettings, parsed), Verdict::length_mismatch);  // DSCP 5 means nothing here
  EXPECT_EQ(class_of(63, kSettings), TrafficClass::no_trim);
  for (int c = 0; c < 6; ++c) {
    EXPECT_EQ(class_of(dscp_of(TrafficClass(c), kSettings), kSettings), TrafficClass(c));
  }
}

TEST(Trim, ADatagramThatTheKernelPassedOnIsRecognised) {
  Sent s = sent_write(Encapsulation::ipv6);
  s.bytes.resize(trim(s.bytes, 256, TrafficClass::trimmed, kSettings, TrimLengths::fix));
  Parsed frame, parsed;
  ASSERT_EQ(parse_l3(s.bytes, kSettings, frame), Verdict::trimmed_ok);
  EXPECT_EQ(parse_datagram(Bytes(s.bytes).subspan(48), frame.datagram, kSettings, parsed),
            Verdict::trimmed_ok);
  EXPECT_EQ(parsed.packet, s.packet);
}

TEST(Trim, ACaptureThatCutAPacketIsReadAsFarAsItGoes) {
  const Sent s = sent_write(Encapsulation::ipv6);
  const Bytes cut = Bytes(s.bytes).first(96);
  Parsed parsed;
  EXPECT_EQ(parse_l3(cut, kSettings, parsed), Verdict::length_mismatch);
  EXPECT_EQ(parse_l3(cut, kSettings, parsed, CutPackets::allow), Verdict::ok);
  EXPECT_TRUE(parsed.cut);
  EXPECT_EQ(parsed.packet, s.packet);
  EXPECT_EQ(parse_l3(cut.first(50), kSettings, parsed, CutPackets::allow), Verdict::too_short);
}

// MRC-WIRE-030, MRC-WIRE-031: where the EV lives, and the other reading.
TEST(Ev, LivesInPortAndFlowLabel) {
  Envelope e;
  e.ev = Ev(0x12345678);
  const IpAddress v6 = *parse_ip("fd00::1"), v4 = IpAddress::v4(10, 0, 0, 1);
  Datagram d = make_datagram(e, v6, v6, kSettings);
  EXPECT_EQ(d.source_port, 0x5678);
  EXPECT_EQ(d.flow_label, 0x1234u);
  EXPECT_EQ(make_envelope(d, kSettings).ev, e.ev);
  Settings swapped;
  swapped.ev_halves = EvHalves::port_high;
  d = make_datagram(e, v6, v6, swapped);
  EXPECT_EQ(d.source_port, 0x1234);
  EXPECT_EQ(d.flow_label, 0x5678u);
  EXPECT_EQ(make_envelope(d, swapped).ev, e.ev);
  for (const Settings& s : {kSettings, swapped}) {
    d = make_datagram(e, v4, v4, s);
    EXPECT_EQ(d.source_port, 0x5678);
    EXPECT_EQ(d.flow_label, 0u);
    EXPECT_EQ(make_envelope(d, s).ev, Ev(0x5678));  // bits that the packet could not carry are 0
  }
}

}  // namespace
}  // namespace mrc::wire
