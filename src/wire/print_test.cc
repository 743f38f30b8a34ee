// Packets as people and programs read them.
#include "wire/print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "wire/fields.h"
#include "wire/testing.h"

namespace mrc::wire {
namespace {

using ::testing::HasSubstr;
constexpr Settings kSettings;

Parsed parsed(const Packet& packet, std::vector<std::uint8_t>& bytes, const Settings& settings = kSettings) {
  bytes.resize(500);
  const Route route{*parse_ip("fd00::1"), *parse_ip("fd00::2")};
  Envelope envelope;
  envelope.ev = Ev(0x10002);
  bytes.resize(emit_l3(packet, envelope, route, {}, settings, bytes));
  Parsed out;
  EXPECT_EQ(parse_l3(bytes, settings, out), Verdict::ok);
  return out;
}

Packet nack() {
  Nack n;
  n.reason = NackReason::trimmed;
  n.nack_psn = Psn(7);
  n.entropy = Ev(0x1234);
  return {Qpn(0x12), Psn(7), 0xFFFF, n};
}

TEST(Print, OneLineSaysWhatMatters) {
  EXPECT_EQ(one_line(nack()), "nack qp 0x000012 psn 7 trimmed ev 0x1234");
  Write w;
  w.payload = 4096;
  w.msn = 3;
  w.has_imm = true;
  w.imm = 0xAB;
  w.retransmitted = true;
  EXPECT_EQ(one_line(Packet{Qpn(1), Psn(2), 0xFFFF, w}),
            "write_only_imm qp 0x000001 psn 2 4096 B msn 3 imm 0x000000ab rqmsn 0 rtx");
  std::vector<std::uint8_t> bytes;
  EXPECT_EQ(one_line(parsed(nack(), bytes)),
            "fd00::1 > fd00::2 ev 0x00010002 trimmable nack qp 0x000012 psn 7 trimmed ev 0x1234");
}

TEST(Print, InFullNamesEveryField) {
  std::vector<std::uint8_t> bytes;
  EXPECT_EQ(
      in_full(parsed(nack(), bytes), Verdict::ok),
      "verdict = ok\nencapsulation = ipv6\nsource = fd00::1\ndestination = fd00::2\nev = 0x00010002\n"
      "class = trimmable\necn = ect0\nbth.opcode = 0xdd\nbth.pkey = 0xffff\nbth.destqp = 0x000012\n"
      "bth.psn = 7\nneth.reason = 0x01\nneth.vendor = 0x00\nneth.entropy = 0x00001234\nneth.spdcid = 0x0000\n"
      "neth.dpdcid = 0x0000\nneth.nack_psn = 7\nneth.timestamp = 0\npayload = 0\n");
}

TEST(Print, JsonHasOneObjectPerHeader) {
  std::vector<std::uint8_t> bytes;
  const std::string json = to_json(parsed(nack(), bytes), Verdict::ok);
  EXPECT_THAT(json,
              HasSubstr(R"("opcode":"nack","bth":{"pkey":65535,"destqp":18,"psn":7},"neth":{"reason":1,)"));
  Prng prng(1);
  const std::string sack = to_json(parsed(testing::random_packet(Opcode::sack, prng), bytes), Verdict::ok);
  EXPECT_THAT(sack, HasSubstr(R"("bitmap":"0x)"));
}

TEST(Print, ARefusedPacketIsPrintedAsFarAsItWasRead) {
  std::vector<std::uint8_t> bytes;
  Settings lax;
  lax.check_icrc = lax.check_udp_checksum = false;
  (void)parsed(nack(), bytes);
  bytes[48] = 0x55;
  Parsed bad;
  const Verdict v = parse_l3(bytes, lax, bad);
  EXPECT_EQ(v, Verdict::unknown_opcode);
  EXPECT_THAT(one_line(bad), HasSubstr("opcode 0x55 qp 0x000012 psn 7"));
  EXPECT_THAT(in_full(bad, v), HasSubstr("verdict = unknown_opcode"));
  EXPECT_THAT(to_json(bad, v), HasSubstr(R"("opcode":"unknown")"));
}

TEST(Print, EveryOpcodeHasItsOwnNameAndAnEmptyPacket) {
  std::set<std::string_view> names;
  int known = 0;
  for (int op = 0; op < 256; ++op) {
    const auto packet = empty_packet(static_cast<std::uint8_t>(op));
    if (!packet) continue;
    ++known;
    EXPECT_EQ(static_cast<int>(packet->opcode()), op);
    names.insert(name(packet->opcode()));
  }
  EXPECT_EQ(known, 12);
  EXPECT_EQ(names.size(), 12u);
}

}  // namespace
}  // namespace mrc::wire
