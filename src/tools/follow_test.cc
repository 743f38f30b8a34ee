// `mrc dump --follow`: the story of a queue pair, event by event, and who belongs to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/capture_maker.h"
#include "tools/run_mrc.h"

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

constexpr Qpn kRequestor{0x11}, kResponder{0x22};

class Follow : public ::testing::Test {
 protected:
  void write(std::uint32_t psn, Ev ev, bool rtx = false) {
    maker_.add(write_packet(kResponder, psn, rtx), ev);
  }
  void answer(const wire::Packet& packet) {
    maker_.turn_round();
    maker_.add(packet, Ev(9), wire::TrafficClass::control);
    maker_.turn_round();
  }
  void sack(std::uint32_t cack, std::uint64_t bitmap = 0, Ev ev = Ev(1)) {
    answer(sack_packet(kRequestor, kResponder, cack, bitmap, ev));
  }
  void nack(std::uint32_t psn, Ev ev) { answer(nack_packet(kRequestor, kResponder, psn, ev)); }
  Outcome story(const std::string& whom = "0x22", const std::string& form = "--all") {
    return run_mrc({"dump", maker_.finish(), "--follow", whom, form});
  }

  CaptureMaker maker_{::testing::TempDir() + "follow_" +
                      ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".pcap"};
};

TEST_F(Follow, ATrimmedPacketIsRepairedAfterItsNack) {
  write(1, Ev(0xA));
  write(2, Ev(0xB));
  nack(2, Ev(0xB));
  sack(1);
  write(2, Ev(0xC), true);
  sack(2);
  const Outcome outcome = story();
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out,
              HasSubstr("1 0.000000000 to 0x22: PSN 1 on EV 0x0000000a: write_only of 256 bytes, MSN 1\n"));
  EXPECT_THAT(outcome.out, HasSubstr("3 0.000002000 to 0x11: NACK trimmed: PSN 2 on EV 0x0000000b\n"));
  EXPECT_THAT(
      outcome.out,
      HasSubstr("PSN 2 on EV 0x0000000c: write_only of 256 bytes, MSN 2, repaired 2.0 us after its NACK"));
  EXPECT_THAT(outcome.out, HasSubstr("SACK: all to 2, 1 new; EV 0x00000001 took 1.0 us"));
  EXPECT_THAT(outcome.out,
              HasSubstr("writes to 0x22: 3 packets on 3 EVs, 2 acknowledged, 0 open, 0 trimmed"));
  EXPECT_THAT(outcome.out, HasSubstr("repairs: 1 (after a NACK 1,"));
  EXPECT_THAT(outcome.out, HasSubstr("slowest 2.0 us"));
}

TEST_F(Follow, ALossWithoutNackIsInferredAndChargedToItsEv) {
  write(1, Ev(0xA));
  write(2, Ev(0xB));
  sack(0, 0b10);  // PSN 2 arrived, 1 did not
  write(1, Ev(0xB), true);
  const Outcome outcome = story("0x22", "--json");
  EXPECT_THAT(outcome.out, HasSubstr("\"cause\":\"inferred\",\"since_evidence_ns\":3000"));
  EXPECT_THAT(outcome.out, HasSubstr("\"open\":[1]"));
  EXPECT_THAT(outcome.out,
              HasSubstr("{\"ev\":10,\"sent\":1,\"acknowledged\":0,\"trimmed\":0,\"nacked\":0,\"lost\":1"));
}

TEST_F(Follow, ANeedlessRepairIsCalledThat) {
  write(1, Ev(0xA));
  sack(1);
  write(1, Ev(0xB), true);
  const Outcome outcome = story();
  EXPECT_THAT(outcome.out, HasSubstr("sent again although it had been acknowledged"));
  EXPECT_THAT(outcome.out, HasSubstr("needless 1"));
}

TEST_F(Follow, PacketsTrimmedBeforeTheCaptureAreSeen) {
  maker_.add(write_packet(kResponder, 7), Ev(0xA), wire::TrafficClass::trimmed);
  nack(7, Ev(0xA));
  write(7, Ev(0xB), true);
  const Outcome outcome = story();
  EXPECT_THAT(outcome.out, HasSubstr("PSN 7 on EV 0x0000000a trimmed\n"));
  EXPECT_THAT(outcome.out, HasSubstr("repaired 1.0 us after its NACK"));
}

TEST_F(Follow, PsnsWrap) {
  write(0xFFFFFF, Ev(0xA));
  write(0, Ev(0xB));
  write(1, Ev(0xC));
  sack(0);
  const Outcome outcome = story();
  EXPECT_THAT(outcome.out, HasSubstr("3 packets on 3 EVs, 2 acknowledged, 1 open"));
}

TEST_F(Follow, EitherEndNamesTheConversation) {
  write(1, Ev(0xA));
  sack(1);
  const std::string from_responder = story("0x22").out, from_requestor = story("17").out;
  EXPECT_EQ(from_responder, from_requestor);
}

TEST_F(Follow, BothEndsMayHaveTheSameNumber) {
  maker_.add(write_packet(kResponder, 1), Ev(0xA));
  answer(sack_packet(kResponder, kResponder, 1));
  const Outcome outcome = story();
  EXPECT_THAT(outcome.out, HasSubstr("1 packet on 1 EV, 1 acknowledged"));
  EXPECT_THAT(outcome.out, HasSubstr("to peer 0x22: SACK"));
  EXPECT_EQ(outcome.err, "");
}

TEST_F(Follow, AnotherHostsQueuePairOfTheSameNumberIsLeftOut) {
  write(1, Ev(0xA));
  sack(1);
  maker_.route.destination = wire::IpAddress::v4(10, 0, 0, 3);
  write(1, Ev(0xA));
  answer(sack_packet(Qpn(0x33), kResponder, 1));
  const Outcome first = story("0x22"), second = story("0x22@10.0.0.3");
  EXPECT_THAT(first.out, HasSubstr("1 packet on"));
  EXPECT_THAT(first.err, HasSubstr("0x22 also exists at 10.0.0.3"));
  EXPECT_THAT(second.out, HasSubstr("to 0x33: SACK"));
}

TEST_F(Follow, APeerInTwoPlanesIsOneQueuePair) {
  write(1, Ev(0xA));
  sack(1);
  maker_.route = {wire::IpAddress::v4(10, 1, 0, 1), wire::IpAddress::v4(10, 1, 0, 2)};
  write(2, Ev(0xB));
  sack(2);
  EXPECT_THAT(story().out, HasSubstr("2 packets on"));
}

TEST_F(Follow, ProbesAndTheirAnswersMeet) {
  write(1, Ev(0xA));
  wire::Probe probe;
  probe.probe_id = 40000;
  probe.spdcid = 0x11;
  probe.dpdcid = 0x22;
  maker_.add({kResponder, Psn(0), 0xFFFF, probe}, Ev(0xB));
  wire::Packet reply = sack_packet(kRequestor, kResponder, 1);
  std::get<wire::Sack>(reply.body).probe_reply = true;
  std::get<wire::Sack>(reply.body).ack_psn_offset = static_cast<std::int16_t>(40000);
  answer(reply);
  const Outcome outcome = story();
  EXPECT_THAT(outcome.out, HasSubstr("probe 40000 on EV 0x0000000b\n"));
  EXPECT_THAT(outcome.out, HasSubstr("answers probe 40000 after 1.0 us"));
}

TEST_F(Follow, MarksAndRefusalsAreTold) {
  write(1, Ev(0xA));
  wire::Packet marked = sack_packet(kRequestor, kResponder, 1, 0, Ev(0xA));
  std::get<wire::Sack>(marked.body).mark = wire::SackMark::skip_once;
  answer(marked);
  answer({kRequestor, Psn(1), 0xFFFF, wire::TransportAck{1, wire::Syndrome::remote_access_error}});
  const Outcome outcome = story();
  EXPECT_THAT(outcome.out, HasSubstr("EV 0x0000000a is to skip a turn"));
  EXPECT_THAT(outcome.out, HasSubstr("Transport remote_access_error, MSN 1"));
}

TEST_F(Follow, ACorruptPacketTellsNothing) {
  auto bytes = maker_.bytes_of(write_packet(kResponder, 5), {});
  bytes[bytes.size() - 1] ^= 1;
  maker_.add_bytes(bytes);
  write(6, Ev(0xA));
  EXPECT_THAT(story().out, Not(HasSubstr("PSN 5")));
}

TEST_F(Follow, BadQuestionsGetASentence) {
  write(1, Ev(0xA));
  EXPECT_THAT(story("0x99").err, HasSubstr("no packet goes to queue pair 0x99"));
  EXPECT_THAT(story("0x99999999").err, HasSubstr("is not QPN or QPN@ADDRESS"));
  EXPECT_THAT(story("frog").err, HasSubstr("is not QPN"));
  EXPECT_THAT(story("1@frog").err, HasSubstr("'frog' is no IP address"));
  EXPECT_THAT(run_mrc({"dump", "-", "--follow", "1"}).err, HasSubstr("give it a file"));
}

}  // namespace
}  // namespace mrc::tools
