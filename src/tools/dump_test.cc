// `mrc dump` on captures made here: every packet is told, and nothing that a capture can hold stops it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/prng.h"
#include "lab/segments.h"
#include "tools/capture_maker.h"
#include "tools/run_mrc.h"
#include "wire/mark.h"
#include "wire/testing.h"

namespace mrc::tools {
namespace {

using testing::CaptureMaker;
using ::testing::HasSubstr;
using testing::nack_packet;
using ::testing::Not;
using testing::Outcome;
using testing::run_mrc;
using testing::sack_packet;
using testing::write_packet;

std::string temp_file() {
  return ::testing::TempDir() + "dump_" + ::testing::UnitTest::GetInstance()->current_test_info()->name() +
         ".pcap";
}

int lines(const std::string& text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

TEST(Dump, ShowsEveryKindOfPacketInEveryEncapsulation) {
  CaptureMaker maker(temp_file());
  Prng prng(3);
  for (const wire::Encapsulation encapsulation : wire::testing::kFrames) {
    for (const wire::Opcode op : wire::testing::kOpcodes) {
      maker.route = wire::testing::random_route(encapsulation, prng);
      maker.add(wire::testing::random_packet(op, prng), Ev(0x1234));
    }
  }
  const Outcome outcome = run_mrc({"dump", maker.finish()});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(lines(outcome.out), 4 * 12);
  EXPECT_THAT(outcome.out, Not(HasSubstr("!")));
  EXPECT_THAT(outcome.err, HasSubstr("48 packets shown, 0 of them"));
}

TEST(Dump, EveryFormShowsTheSamePacket) {
  CaptureMaker maker(temp_file());
  maker.add(write_packet(Qpn(0x11), 5), Ev(0x777));
  const std::string file = maker.finish();
  EXPECT_EQ(
      run_mrc({"dump", file}).out,
      "1 0.000000000 10.0.0.1 > 10.0.0.2 ev 0x00000777 trimmable write_only qp 0x000011 psn 5 256 B msn 5\n");
  EXPECT_THAT(run_mrc({"dump", "--full", file}).out, HasSubstr("\n  bth.psn = 5\n"));
  const std::string json = run_mrc({"dump", "--json", file}).out;
  EXPECT_THAT(json, HasSubstr("{\"frame\":1,\"time\":\"0.000000000\",\"epoch\":\"1.000000000\""));
  EXPECT_THAT(json, HasSubstr("\"verdict\":\"ok\""));
  EXPECT_EQ(lines(json), 1);
}

TEST(Dump, FiltersByQueuePair) {
  CaptureMaker maker(temp_file());
  for (std::uint32_t qp = 0x10; qp < 0x14; ++qp) maker.add(write_packet(Qpn(qp), 1), Ev(1));
  const std::string file = maker.finish();
  EXPECT_EQ(lines(run_mrc({"dump", "--qp", "0x11", file}).out), 1);
  EXPECT_EQ(lines(run_mrc({"dump", file, "--qp", "0x11", "--qp", "19"}).out), 2);
}

TEST(Dump, ACorruptPacketIsShownWithItsVerdict) {
  CaptureMaker maker(temp_file());
  wire::Envelope envelope;
  auto bytes = maker.bytes_of(write_packet(Qpn(0x11), 5), envelope);
  bytes.back() ^= 1;  // the iCRC
  maker.add_bytes(bytes);
  const Outcome outcome = run_mrc({"dump", maker.finish()});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, HasSubstr("write_only qp 0x000011 psn 5"));
  EXPECT_THAT(outcome.out, HasSubstr("!bad_icrc: "));
  EXPECT_THAT(outcome.err, HasSubstr("1 of them not well formed"));
}

/// As a kernel hands packets to a device that is to cut them and to finish their checksums: the headers once,
/// lengths of the whole, and in the checksum field the sum of the pseudo-header.
std::vector<std::uint8_t> train_of(const CaptureMaker& maker, Qpn qp, std::uint32_t first_psn, int packets) {
  std::vector<std::uint8_t> out;
  std::optional<lab::Segments> train;
  for (int i = 0; i < packets; ++i) {
    const auto one = maker.bytes_of(write_packet(qp, first_psn + static_cast<std::uint32_t>(i)), {});
    if (!train) train = lab::find_ip_segments(one, one.size(), 1);
    out.insert(out.end(), one.begin() + (i == 0 ? 0 : train->payload), one.end());
  }
  lab::write_segment_head(out, *train, static_cast<std::uint32_t>(out.size() - train->payload));
  return out;
}

wire::Route ipv6_route(bool encapsulated) {
  wire::Route route{*wire::parse_ip("fd00::1"), *wire::parse_ip("fd00::2")};
  if (encapsulated) route.usid_carrier = wire::parse_ip("fcbb:bb00:8000::");
  return route;
}

TEST(Dump, AChecksumThatIsLeftToTheDeviceIsNoFault) {
  CaptureMaker maker(temp_file());
  maker.route = ipv6_route(false);
  auto bytes = train_of(maker, Qpn(0x11), 5, 1);
  maker.add_bytes(bytes);
  const std::string file = maker.finish();
  const Outcome outcome = run_mrc({"dump", file});
  EXPECT_THAT(outcome.out, Not(HasSubstr("!")));
  EXPECT_THAT(outcome.err, HasSubstr("1 packet shown, 0 of them not well formed"));
  EXPECT_THAT(outcome.err, HasSubstr("the UDP checksum of 1 of them was left to the device"));
  EXPECT_THAT(run_mrc({"dump", "--json", file}).out, HasSubstr("\"unfinished_checksum\":true"));
  bytes[40 + 7] ^= 1;
  maker.add_bytes(bytes);
  EXPECT_THAT(run_mrc({"dump", maker.finish()}).out, HasSubstr("!bad_udp_checksum: "));
}

TEST(Dump, ATrainIsCutIntoItsPackets) {
  for (const bool encapsulated : {false, true}) {
    CaptureMaker maker(temp_file());
    maker.route = ipv6_route(encapsulated);
    maker.add_bytes(train_of(maker, Qpn(0x11), 5, 3));
    maker.add(write_packet(Qpn(0x11), 8), Ev(1));
    const std::string file = maker.finish();
    const Outcome outcome = run_mrc({"dump", file});
    EXPECT_THAT(outcome.out, HasSubstr("psn 5 256 B"));
    EXPECT_THAT(outcome.out, HasSubstr("psn 6 256 B"));
    EXPECT_THAT(outcome.out, HasSubstr(" [3 of 3 in one frame]\n2 "));
    EXPECT_THAT(outcome.out, Not(HasSubstr("!")));
    EXPECT_EQ(lines(outcome.out), 4);
    EXPECT_EQ(lines(run_mrc({"dump", "--no-icrc", file}).out), 4);
    EXPECT_THAT(run_mrc({"dump", "--json", file}).out, HasSubstr("\"part\":2,\"of_parts\":3"));
    EXPECT_THAT(run_mrc({"dump", "--follow", "0x11", file}).out, HasSubstr("writes to 0x11: 4 packets"));
  }
}

TEST(Dump, ATrimmedPacketIsKnownByItsClass) {
  CaptureMaker maker(temp_file());
  wire::Envelope envelope;
  auto bytes = maker.bytes_of(write_packet(Qpn(0x11), 5), envelope);
  bytes.resize(wire::trim(bytes, 100, wire::TrafficClass::trimmed_lasthop, maker.settings));
  maker.add_bytes(bytes);
  const Outcome outcome = run_mrc({"dump", maker.finish()});
  EXPECT_THAT(outcome.out, HasSubstr("trimmed_lasthop write_only qp 0x000011 psn 5"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("!")));
}

TEST(Dump, APacketThatTheCaptureCutIsShownAsFarAsItGoes) {
  CaptureMaker maker(temp_file());
  const auto bytes = maker.bytes_of(write_packet(Qpn(0x11), 5), {});
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    maker.add_bytes(Bytes(bytes).first(n), static_cast<std::uint32_t>(bytes.size()));
  }
  const Outcome outcome = run_mrc({"dump", maker.finish(), "--all"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(lines(outcome.out), static_cast<int>(bytes.size()));
  EXPECT_THAT(outcome.out, HasSubstr("psn 5 0 B msn 5 [cut by the capture]\n"));
}

TEST(Dump, ForeignFramesAreCountedAndShownOnDemand) {
  CaptureMaker maker(temp_file(), LinkType::ethernet);
  maker.add_bytes(std::vector<std::uint8_t>(60, 0x08));  // EtherType 0x0808
  maker.add_bytes(std::vector<std::uint8_t>{1, 2, 3});
  const std::string file = maker.finish();
  const Outcome outcome = run_mrc({"dump", file});
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("2 frames were not MRC"));
  EXPECT_EQ(lines(run_mrc({"dump", file, "--all"}).out), 2);
}

// Whatever the bytes: a verdict, in every form of output. Mutations of good packets reach deeper than noise
// does.
TEST(Dump, NoiseNeverStopsIt) {
  CaptureMaker maker(temp_file());
  Prng prng(5);
  constexpr int kPackets = 2000;
  for (int i = 0; i < kPackets; ++i) {
    const wire::Opcode op = wire::testing::kOpcodes[prng.below(12)];
    maker.route = wire::testing::random_route(wire::testing::kFrames[prng.below(4)], prng);
    auto bytes = maker.bytes_of(wire::testing::random_packet(op, prng), {});
    for (std::uint32_t n = prng.below(8); n > 0; --n) {
      bytes[prng.below(static_cast<std::uint32_t>(bytes.size()))] ^= 1 << prng.below(8);
    }
    if (prng.chance(0.3)) bytes.resize(prng.below(static_cast<std::uint32_t>(bytes.size())) + 1);
    maker.add_bytes(bytes);
  }
  const std::string file = maker.finish();
  for (const char* form : {"--full", "--json"}) EXPECT_EQ(run_mrc({"dump", file, "--all", form}).status, 0);
  EXPECT_EQ(lines(run_mrc({"dump", file, "--all", "--no-icrc"}).out), kPackets);
}

TEST(Dump, WhatCannotBeReadIsAnErrorWithASentence) {
  const Outcome missing = run_mrc({"dump", "/nonexistent.pcap"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.err, HasSubstr("mrc dump: /nonexistent.pcap"));
  EXPECT_EQ(run_mrc({"dump"}).status, 2);
}

}  // namespace
}  // namespace mrc::tools
