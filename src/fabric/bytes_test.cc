// Frames as bytes: read, decided upon, written back, and still what the codec accepts.
#include "fabric/bytes.h"

#include <gtest/gtest.h>

#include "fabric/switch.h"
#include "wire/codec.h"
#include "wire/testing.h"

namespace mrc::fabric {
namespace {

using Vec = std::vector<std::uint8_t>;
using wire::Ecn;
using wire::TrafficClass;

wire::IpAddress ip(const char* text) { return *wire::parse_ip(text); }

class Bytes : public testing::Test {
 protected:
  ByteSettings settings;
  Prng random{5};
  wire::Packet packet = wire::testing::random_packet(wire::Opcode::write_only_imm, random);

  Vec frame(const char* carrier, std::size_t payload = 1024, const char* next_carrier = nullptr) {
    wire::Route route{ip("fd4d:5243::1"), ip("fd4d:5243:0:3::2")};
    if (carrier != nullptr) route.usid_carrier = ip(carrier);
    if (next_carrier != nullptr) route.next_carrier = ip(next_carrier);
    wire::Envelope envelope;
    envelope.ev = Ev(0xC003);
    const Vec bytes = wire::testing::random_bytes(payload, random);
    Vec out(4096);
    out.resize(wire::emit_l2(packet, envelope, route, {}, {}, bytes, settings.wire, out));
    return out;
  }
  static std::string destination(const Vec& f) {
    return to_string(wire::IpAddress::v6_from(f.data() + 14 + 24));
  }
  Verdict parse(const Vec& f, wire::Parsed& out) { return wire::parse_l2(f, settings.wire, out); }
};

TEST_F(Bytes, ReadsWhatASwitchNeeds) {
  const Vec bytes = frame("fcbb:bb00:4000:8001:4003:e001::");
  Frame f;
  const ReadFrame r = read_frame(bytes, settings, f);
  EXPECT_EQ(r.fate, Fate::passed);
  EXPECT_EQ(r.addressing, Addressing::usid);
  EXPECT_EQ(f.bytes, bytes.size());
  EXPECT_EQ(f.traffic_class, TrafficClass::trimmable);
  EXPECT_EQ(f.ecn, Ecn::ect0);
  EXPECT_EQ(f.hop_limit, 64);
  EXPECT_EQ(f.usids, (std::array<std::uint16_t, 6>{0x4000, 0x8001, 0x4003, 0xE001, 0, 0}));
}

TEST_F(Bytes, ReadsPlainAddressesAsDestinations) {
  const Vec bytes = frame(nullptr);
  Frame f;
  EXPECT_EQ(read_frame(bytes, settings, f).addressing, Addressing::plain);
  EXPECT_EQ(f.destination, destination_key(3, 1));
  EXPECT_EQ(f.entropy & 0xFFFF, 0xC003u) << "the EV's low half is the UDP source port";
}

// MRC-FAB-014: shift by 16 bits, zeros following; the packet inside is untouched.
TEST_F(Bytes, ShiftsTheCarrier) {
  Vec bytes = frame("fcbb:bb00:4000:8001:4003:e001::");
  wire::Parsed before, after;
  ASSERT_EQ(parse(bytes, before), Verdict::ok);
  Frame f;
  read_frame(bytes, settings, f);
  f.usid_at = 1;
  f.hop_limit = 63;
  EXPECT_EQ(write_frame(f, bytes, settings), bytes.size());
  EXPECT_EQ(destination(bytes), "fcbb:bb00:8001:4003:e001::");
  EXPECT_EQ(bytes[14 + 7], 63);
  ASSERT_EQ(parse(bytes, after), Verdict::ok) << "the iCRC covers nothing that forwarding changes";
  EXPECT_EQ(after.packet, before.packet);
  EXPECT_EQ(after.envelope, before.envelope);
}

TEST_F(Bytes, AFullCarrierShiftsToItsEnd) {
  Vec bytes = frame("fcbb:bb00:1:2:3:4:5:6");
  Frame f;
  read_frame(bytes, settings, f);
  f.usid_at = 6;
  write_frame(f, bytes, settings);
  EXPECT_EQ(destination(bytes), "fcbb:bb00::");
}

TEST_F(Bytes, ALongerLocatorHasFiveUsids) {
  settings.locator = *parse_ipv6_prefix("fcbb:bb00:1::/48");
  Vec bytes = frame("fcbb:bb00:1:4000:8001:4003:e001:7");
  Frame f;
  read_frame(bytes, settings, f);
  EXPECT_EQ(f.usids, (std::array<std::uint16_t, 6>{0x4000, 0x8001, 0x4003, 0xE001, 7, 0}));
  f.usid_at = 1;
  write_frame(f, bytes, settings);
  EXPECT_EQ(destination(bytes), "fcbb:bb00:1:8001:4003:e001:7:0");
}

// MRC-FAB-011: the mark reaches a receiver that sees only the inner header.
TEST_F(Bytes, MarksInsideToo) {
  Vec bytes = frame("fcbb:bb00:4000:e001::");
  Frame f;
  read_frame(bytes, settings, f);
  f.ecn = Ecn::ce;
  write_frame(f, bytes, settings);
  EXPECT_EQ(bytes[14 + 1] >> 4 & 3, 3) << "outer";
  wire::Parsed parsed;
  const Vec inner(bytes.begin() + 14 + 40, bytes.end());
  ASSERT_EQ(wire::parse_l3(inner, settings.wire, parsed), Verdict::ok);
  EXPECT_EQ(parsed.envelope.ecn, Ecn::ce);

  Vec outer_only = frame("fcbb:bb00:4000:e001::");
  settings.inner_too = false;
  write_frame(f, outer_only, settings);
  EXPECT_EQ(outer_only[14 + 40 + 1] >> 4 & 3, 2);
}

TEST_F(Bytes, AMarkNeverAppearsWhereItCanNotBeCarried) {
  Vec bytes = frame("fcbb:bb00:4000:e001::");
  bytes[14 + 40 + 1] &= 0xCF;  // the inner packet is not ECN-capable
  Frame f;
  read_frame(bytes, settings, f);
  f.ecn = Ecn::ce;
  write_frame(f, bytes, settings);
  EXPECT_EQ(bytes[14 + 40 + 1] >> 4 & 3, 0);
}

// MRC-FAB-013: cut to size, the class in both headers, and lengths that let a kernel deliver it.
TEST_F(Bytes, TrimsSoThatTheReceiverCanTell) {
  for (const TrafficClass c : {TrafficClass::trimmed, TrafficClass::trimmed_lasthop}) {
    Vec bytes = frame("fcbb:bb00:4000:e001::");
    Frame f;
    read_frame(bytes, settings, f);
    f.bytes = 256;
    f.traffic_class = c;
    bytes.resize(write_frame(f, bytes, settings));
    EXPECT_EQ(bytes.size(), 256u);
    for (const std::size_t from : {std::size_t{14}, std::size_t{14 + 40}}) {
      wire::Parsed parsed;
      const Vec l3(bytes.begin() + static_cast<std::ptrdiff_t>(from), bytes.end());
      ASSERT_EQ(wire::parse_l3(l3, settings.wire, parsed), Verdict::trimmed_ok);
      EXPECT_EQ(parsed.envelope.traffic_class, c);
      EXPECT_EQ(parsed.packet.psn, packet.psn);
      EXPECT_FALSE(parsed.cut);
    }
  }
}

TEST_F(Bytes, TheHeadAloneIsEnoughToWrite) {
  const Vec whole = frame("fcbb:bb00:4000:e001::");
  Vec by_head = whole, by_whole = whole;
  Frame f;
  read_frame(whole, settings, f);
  f.usid_at = 1;
  f.bytes = 256;
  f.traffic_class = TrafficClass::trimmed;
  const std::size_t length = write_frame(f, by_whole, settings);
  EXPECT_EQ(write_frame(f, wire::MutableBytes(by_head).first(320), settings), length);
  by_head.resize(length);
  by_whole.resize(length);
  EXPECT_EQ(by_head, by_whole);
}

TEST_F(Bytes, AForeignDscpIsLeftAlone) {
  Vec bytes = frame("fcbb:bb00:4000:e001::");
  wire::set_tos(wire::MutableBytes(bytes).subspan(14), 63 << 2);
  Frame f;
  read_frame(bytes, settings, f);
  EXPECT_EQ(f.traffic_class, TrafficClass::no_trim);
  write_frame(f, bytes, settings);
  EXPECT_EQ(wire::tos_of(wire::Bytes(bytes).subspan(14)), 63 << 2);
}

TEST_F(Bytes, ASpentCarrierGoesOnWithTheNextSegment) {
  Vec bytes = frame("fcbb:bb00:4000::", 64, "fcbb:bb00:8001:e001::");
  Frame f;
  read_frame(bytes, settings, f);
  Switch sw({.usid = 0x4000}, Table(), {});
  EXPECT_EQ(sw.route(f).fate, Fate::carrier_spent);
  ASSERT_TRUE(next_segment(bytes));
  EXPECT_EQ(destination(bytes), "fcbb:bb00:8001:e001::");
  EXPECT_FALSE(next_segment(bytes)) << "none is left";
  Vec without = frame("fcbb:bb00:4000::");
  EXPECT_FALSE(next_segment(without));
}

TEST_F(Bytes, RefusesWhatItShouldNotForward) {
  Frame f;
  EXPECT_EQ(read_frame(Vec(10), settings, f).fate, Fate::too_short);
  EXPECT_EQ(read_frame(Vec(60), settings, f).fate, Fate::not_ipv6);
  Vec outside = frame("fcbb:bb01:4000::");
  EXPECT_EQ(read_frame(outside, settings, f).fate, Fate::outside_locator);
  Vec cut = frame("fcbb:bb00:4000::");
  cut.pop_back();
  EXPECT_EQ(read_frame(cut, settings, f).fate, Fate::too_short);
  Vec v4 = frame("fcbb:bb00:4000::");
  v4[14] = 0x45;
  EXPECT_EQ(read_frame(v4, settings, f).fate, Fate::not_ipv6);
  Vec padded = frame("fcbb:bb00:4000:e001::", 1);
  padded.resize(padded.size() + 9);
  EXPECT_EQ(read_frame(padded, settings, f).fate, Fate::passed);
  EXPECT_EQ(f.bytes, padded.size() - 9) << "padding is not part of the frame";
}

TEST_F(Bytes, SurvivesRandomBytes) {
  for (int i = 0; i < 20'000; ++i) {
    Vec bytes = i % 2 == 0 ? frame("fcbb:bb00:4000:8001::", 64, i % 4 == 0 ? "fcbb:bb00:1::" : nullptr)
                           : wire::testing::random_bytes(random.below(200), random);
    for (int flips = 0; flips < 8 && !bytes.empty(); ++flips) {
      bytes[random.below(static_cast<std::uint32_t>(bytes.size()))] =
          static_cast<std::uint8_t>(random.next());
    }
    Frame f;
    if (is_gone(read_frame(bytes, settings, f).fate)) continue;
    ASSERT_LE(f.bytes, bytes.size());
    f.usid_at = static_cast<std::uint8_t>(random.below(7));
    f.traffic_class = TrafficClass::trimmed;
    f.bytes = std::min(f.bytes, 60 + random.below(200));
    next_segment(bytes);
    EXPECT_LE(write_frame(f, bytes, settings), bytes.size());
  }
}

}  // namespace
}  // namespace mrc::fabric
