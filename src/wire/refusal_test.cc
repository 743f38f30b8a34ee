// Bytes that are not an MRC packet, or no longer: each gets its verdict, and none is read beyond its end.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "wire/codec.h"
#include "wire/icrc.h"
#include "wire/mark.h"
#include "wire/testing.h"

namespace mrc::wire {
namespace {

using Vec = std::vector<std::uint8_t>;
constexpr Settings kSettings;

Settings without_checksums() {
  Settings s;
  s.check_icrc = false;
  s.check_udp_checksum = false;
  return s;
}

Vec frame(Opcode op, Encapsulation encapsulation, std::size_t payload = 0,
          TrafficClass c = TrafficClass::trimmable) {
  Prng prng(21);
  Packet packet = testing::random_packet(op, prng);
  if (auto* w = std::get_if<Write>(&packet.body)) w->has_timestamp = true;
  Envelope envelope;
  envelope.traffic_class = c;
  Vec out(5000);
  const Vec bytes = testing::random_bytes(payload, prng);
  out.resize(emit_l3(packet, envelope, testing::random_route(encapsulation, prng), bytes, kSettings, out));
  return out;
}

Verdict verdict_of(const Vec& l3, const Settings& settings = kSettings) {
  // A copy of exactly this size: reading past it is seen by the address sanitizer.
  const std::unique_ptr<std::uint8_t[]> exact(new std::uint8_t[l3.size()]);
  std::copy(l3.begin(), l3.end(), exact.get());
  Parsed parsed;
  return parse_l3({exact.get(), l3.size()}, settings, parsed);
}

Verdict after(Vec bytes, std::size_t at, std::uint8_t value, const Settings& settings = kSettings) {
  bytes.at(at) = value;
  return verdict_of(bytes, settings);
}

constexpr std::size_t kUdp6 = 40, kBth6 = 48;

// MRC-WIRE-040: a flip of any covered bit is seen; MRC-WIRE-042, MRC-WIRE-043: what is masked may change.
TEST(Refusal, EveryCoveredBitOfAnIpv6PacketCounts) {
  Settings settings;
  settings.check_udp_checksum = false;  // it would see most of the flips first
  const Vec good = frame(Opcode::write_only, Encapsulation::ipv6, 10);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    Vec bad = good;
    bad[bit / 8] ^= static_cast<std::uint8_t>(0x80 >> bit % 8);
    const std::size_t byte = bit / 8;
    const bool version = bit < 4, length = byte == 4 || byte == 5 || byte == kUdp6 + 4 || byte == kUdp6 + 5;
    const bool masked =
        (bit >= 4 && byte < 4) || byte == 7 || byte == kUdp6 + 6 || byte == kUdp6 + 7 || byte == kBth6 + 4;
    const Verdict v = verdict_of(bad, settings);
    if (masked) {
      EXPECT_TRUE(v == Verdict::ok || v == Verdict::trimmed_ok) << bit << name(v);
    } else if (version || length || byte == 6 || byte == kUdp6 + 2 || byte == kUdp6 + 3) {
      EXPECT_NE(v, Verdict::ok) << bit;
    } else {
      EXPECT_EQ(v, Verdict::bad_icrc) << bit;
    }
  }
}

// MRC-WIRE-041: TOS, TTL and header checksum may change on the way, identification and addresses may not.
TEST(Refusal, TheIcrcOfIpv4MasksWhatRoutersChange) {
  Vec bytes = frame(Opcode::write_only, Encapsulation::ipv4, 10);
  bytes[8] = 3;
  set_tos(bytes, 0x4B);
  EXPECT_EQ(verdict_of(bytes), Verdict::ok);
  bytes[4] ^= 1;
  set_tos(bytes, 0x4B);  // a right header checksum again
  EXPECT_EQ(verdict_of(bytes), Verdict::bad_icrc);
}

// MRC-WIRE-045, MRC-WIRE-002: neither iCRC nor UDP checksum depends on an outer header.
TEST(Refusal, SwitchesMayRewriteTheOuterHeader) {
  for (const Encapsulation e : {Encapsulation::srv6, Encapsulation::srv6_srh}) {
    Vec bytes = frame(Opcode::write_only, e, 100);
    for (std::size_t i = 24; i < 40; ++i) bytes[i] ^= 0x5A;
    bytes[7] = 1;
    EXPECT_TRUE(mark_ce(bytes));
    EXPECT_EQ(verdict_of(bytes), Verdict::ok);
  }
}

TEST(Refusal, EveryShorteningHasAVerdict) {
  for (const Opcode op : testing::kOpcodes) {
    for (const Encapsulation e : testing::kFrames) {
      const Vec whole = frame(op, e, op == Opcode::write_only ? 5 : 0);
      for (std::size_t n = 0; n < whole.size(); ++n) {
        const Verdict v = verdict_of(Vec(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)));
        // MRC-WIRE-051
        EXPECT_TRUE(v == Verdict::too_short || v == Verdict::length_mismatch) << n << name(v);
      }
    }
  }
}

// MRC-WIRE-007, MRC-WIRE-061
TEST(Refusal, Ip) {
  const Vec v4 = frame(Opcode::write_only, Encapsulation::ipv4, 8);
  EXPECT_EQ(after(v4, 0, 0x55), Verdict::bad_ip_version);
  EXPECT_EQ(after(v4, 0, 0x46), Verdict::bad_ip_header);
  EXPECT_EQ(after(v4, 10, v4[10] ^ 1), Verdict::bad_ip_header);
  const auto v4_with = [&](std::size_t at, std::uint8_t value) {
    Vec b = v4;
    b[at] = value;
    set_tos(b, tos_of(b));
    return verdict_of(b);
  };
  EXPECT_EQ(v4_with(6, 0x20), Verdict::ip_fragment);
  EXPECT_EQ(v4_with(7, 0x01), Verdict::ip_fragment);
  EXPECT_EQ(v4_with(9, 6), Verdict::not_udp);
  EXPECT_EQ(v4_with(3, v4[3] - 4), Verdict::length_mismatch);

  const Vec v6 = frame(Opcode::write_only, Encapsulation::ipv6, 8);
  EXPECT_EQ(after(v6, 6, 44), Verdict::ip_fragment);
  EXPECT_EQ(after(v6, 6, 6), Verdict::not_udp);
  EXPECT_EQ(after(v6, 5, v6[5] - 4), Verdict::length_mismatch);
  EXPECT_EQ(after(v6, kUdp6 + 3, 0xB8), Verdict::not_mrc_port);
  EXPECT_EQ(after(v6, kUdp6 + 5, v6[kUdp6 + 5] + 1), Verdict::length_mismatch);
  EXPECT_EQ(after(v6, kUdp6 + 7, v6[kUdp6 + 7] ^ 1), Verdict::bad_udp_checksum);
  Settings other;
  other.udp_port = 4971;
  EXPECT_EQ(verdict_of(v6, other), Verdict::not_mrc_port);
  EXPECT_EQ(verdict_of(frame(Opcode::sack, Encapsulation::ipv6), other), Verdict::not_mrc_port);
}

TEST(Refusal, SegmentRouting) {
  const Vec bytes = frame(Opcode::sack, Encapsulation::srv6_srh);
  EXPECT_EQ(after(bytes, 40, 17), Verdict::bad_srh);           // UDP right behind the SRH
  EXPECT_EQ(after(bytes, 41, 0xFF), Verdict::bad_srh);         // longer than the packet
  EXPECT_EQ(after(bytes, 42, 0), Verdict::bad_srh);            // another kind of routing header
  EXPECT_EQ(after(bytes, 64, 0x45), Verdict::bad_ip_version);  // IPv4 inside
  EXPECT_EQ(after(bytes, 64 + 6, 41), Verdict::not_udp);       // a third IPv6 header
}

// MRC-WIRE-002: none is fine over IPv4, and over IPv6 where the setting says so.
TEST(Refusal, UdpChecksums) {
  Vec v4 = frame(Opcode::sack, Encapsulation::ipv4);
  EXPECT_EQ(v4[26] | v4[27], 0);
  EXPECT_EQ(after(v4, 27, 1), Verdict::bad_udp_checksum);
  Vec v6 = frame(Opcode::sack, Encapsulation::ipv6);
  EXPECT_NE(v6[kUdp6 + 6] | v6[kUdp6 + 7], 0);
  v6[kUdp6 + 6] = v6[kUdp6 + 7] = 0;
  EXPECT_EQ(verdict_of(v6), Verdict::ok);
  Settings strict;
  strict.accept_zero_udp6_checksum = false;
  EXPECT_EQ(verdict_of(v6, strict), Verdict::bad_udp_checksum);
}

// MRC-WIRE-003, MRC-WIRE-004: opcodes and the transport version.
TEST(Refusal, Bth) {
  const Settings lax = without_checksums();
  const Vec ack = frame(Opcode::transport_ack, Encapsulation::ipv6);
  EXPECT_EQ(after(ack, kBth6 + 1, 0x01, lax), Verdict::bad_tver);
  int known = 0;
  for (int op = 0; op < 256; ++op)
    known += after(ack, kBth6, static_cast<std::uint8_t>(op), lax) != Verdict::unknown_opcode;
  EXPECT_EQ(known, 12);
}

// MRC-WIRE-005
TEST(Refusal, Padding) {
  const Settings lax = without_checksums();
  const Vec first = frame(Opcode::write_first, Encapsulation::ipv6, 256);
  EXPECT_EQ(after(first, kBth6 + 1, 0x10, lax), Verdict::bad_pad);  // no padding inside a message
  EXPECT_EQ(verdict_of(frame(Opcode::write_first, Encapsulation::ipv6, 255), lax), Verdict::bad_pad);
  const Vec empty = frame(Opcode::write_only, Encapsulation::ipv6, 0);
  EXPECT_EQ(verdict_of(empty), Verdict::ok);  // a write of nothing is a packet
  EXPECT_EQ(after(empty, kBth6 + 1, 0x30, lax), Verdict::bad_pad);
  EXPECT_EQ(after(frame(Opcode::sack, Encapsulation::ipv6), kBth6 + 1, 0x10, lax), Verdict::bad_pad);
}

/// Lengthens a datagram's transport by whole words and makes every length true again.
Vec lengthened(Vec bytes, std::size_t more) {
  bytes.resize(bytes.size() + more);
  const auto length = static_cast<std::uint8_t>(bytes[5] + more);
  bytes[5] = bytes[kUdp6 + 5] = length;
  return bytes;
}

// MRC-WIRE-006
TEST(Refusal, ControlPacketsHaveNoPayload) {
  const Settings lax = without_checksums();
  for (const Opcode op : testing::kOpcodes) {
    const Vec longer = lengthened(frame(op, Encapsulation::ipv6), 4);
    const bool is_write = static_cast<std::uint8_t>(op) <= 0xCB;
    EXPECT_EQ(verdict_of(longer, lax), is_write ? Verdict::ok : Verdict::length_mismatch);
  }
}

// MRC-WIRE-020, MRC-WIRE-021, MRC-WIRE-024, MRC-WIRE-025
TEST(Refusal, FieldsThatContradictBth) {
  const Settings lax = without_checksums();
  for (const Opcode op : {Opcode::sack, Opcode::nack}) {
    const Vec bytes = frame(op, Encapsulation::ipv6);
    EXPECT_EQ(after(bytes, kBth6 + 11, bytes[kBth6 + 11] ^ 1, lax), Verdict::bad_field);
    Settings laxer = lax;
    laxer.check_control_psn = false;
    EXPECT_EQ(after(bytes, kBth6 + 11, bytes[kBth6 + 11] ^ 1, laxer), Verdict::ok);
  }
  for (const Opcode op : {Opcode::endpoint_request, Opcode::endpoint_response}) {
    EXPECT_EQ(after(frame(op, Encapsulation::ipv6), kBth6 + 7, 3, lax), Verdict::bad_field);
  }
  const Vec probe = frame(Opcode::probe, Encapsulation::ipv6);
  EXPECT_EQ(after(probe, kBth6 + 11, probe[kBth6 + 11] ^ 1, lax), Verdict::ok);
}

// MRC-WIRE-015: reserved bits change nothing.
TEST(Refusal, ReservedBitsAreIgnored) {
  const Settings lax = without_checksums();
  struct Case {
    Opcode op;
    std::size_t at;
    std::uint8_t bits;
  };
  for (const Case c :
       {Case{Opcode::write_only, 4, 0xFF}, Case{Opcode::write_only, 8, 0x4F}, Case{Opcode::sack, 24, 0xFF},
        Case{Opcode::nack, 24, 0xFF}, Case{Opcode::nack, 29, 0xFF}, Case{Opcode::probe, 14, 0xFF},
        Case{Opcode::endpoint_request, 20, 0xFF}, Case{Opcode::endpoint_response, 44, 0xFF}}) {
    Vec bytes = frame(c.op, Encapsulation::ipv6);
    Parsed plain, marked;
    parse_l3(bytes, lax, plain);
    bytes[kBth6 + c.at] |= c.bits;
    EXPECT_EQ(parse_l3(bytes, lax, marked), Verdict::ok);
    EXPECT_EQ(plain.packet, marked.packet);
  }
}

}  // namespace
}  // namespace mrc::wire
