// The responder, one packet at a time.
#include "engine/script.h"

namespace mrc::engine {
namespace {

using ResponderTest = Script;
using wire::NackReason;

// MRC-RSP-001
TEST_F(ResponderTest, ImmediatesCompleteInOrderAndOnlyAfterAllBefore) {
  start();
  for (std::uint64_t i = 0; i < 3; ++i) qp->post_receive(i);
  EXPECT_EQ(feed(only_imm(2), Psn(502)), Verdict::ok);
  EXPECT_EQ(feed(only_imm(0), Psn(500)), Verdict::ok);
  auto done = completions();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].imm, 1000u);
  EXPECT_EQ(feed(only_imm(1), Psn(501)), Verdict::ok);
  done = completions();
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].imm, 1001u);
  EXPECT_EQ(done[1].imm, 1002u);
}

// MRC-RSP-002
TEST_F(ResponderTest, EachFailedCheckIsANakAndTheEnd) {
  struct Case {
    wire::Write write;
    Verdict verdict;
    wire::Syndrome syndrome;
  };
  wire::Write foreign = only(64), beyond = only(64), long_packet = only(64), short_middle = only(64);
  foreign.rkey = RKey(1);
  beyond.va = 1 << 20;
  long_packet.dma_length = 32;
  short_middle.segment = wire::Segment::middle;
  const Case cases[] = {{foreign, Verdict::bad_rkey, wire::Syndrome::remote_access_error},
                        {beyond, Verdict::out_of_bounds, wire::Syndrome::remote_access_error},
                        {long_packet, Verdict::bad_length, wire::Syndrome::invalid_request},
                        {short_middle, Verdict::bad_length, wire::Syndrome::invalid_request}};
  for (const auto& c : cases) {
    table.clear();
    start();
    EXPECT_EQ(feed(c.write, Psn(500)), c.verdict);
    EXPECT_EQ(qp->state(), QpState::error);
    const auto naks = answers<wire::TransportAck>();
    ASSERT_EQ(naks.size(), 1u);
    EXPECT_EQ(naks[0].syndrome, c.syndrome);
    // The NAK may get lost: whatever the peer repeats is answered again.
    EXPECT_EQ(feed(c.write, Psn(500)), Verdict::wrong_state);
    EXPECT_EQ(answers<wire::TransportAck>().size(), 1u);
  }
}

// MRC-EV-019
TEST_F(ResponderTest, AnAnswerTakesTheWayOfThePacketThatAskedForIt) {
  config.paths.answers_follow = true;
  start();
  std::uint32_t psn = 500;
  for (const std::uint32_t ev : {3u, 8u, 3u, 12u}) {
    wire::Envelope marked{.ev = Ev(ev), .port = PortId(static_cast<std::uint8_t>((ev - 1) % 2 + 1))};
    marked.ecn = wire::Ecn::ce;
    EXPECT_EQ(feed(only(64), Psn(psn++), marked), Verdict::ok);
    for (const Transmit& t : drain()) {
      if (!is_probe(t)) {
        EXPECT_EQ(t.envelope.ev, Ev(ev));
      }
    }
  }
}

// MRC-RSP-003
TEST_F(ResponderTest, BeyondTheWindowIsRefusedByPolicy) {
  start();
  EXPECT_EQ(feed(only(64), Psn(499 + 1025)), Verdict::out_of_window);
  const auto nacks = answers<wire::Nack>();
  ASSERT_EQ(nacks.size(), 1u);
  EXPECT_EQ(nacks[0].reason, NackReason::psn_oor_window);
  EXPECT_EQ(feed(only(64), Psn(499 + 1024)), Verdict::ok);
}

TEST_F(ResponderTest, OrInSilence) {
  config.responder.out_of_window = WindowPolicy::drop;
  start();
  EXPECT_EQ(feed(only(64), Psn(499 + 1025)), Verdict::out_of_window);
  EXPECT_TRUE(answers<wire::Nack>().empty());
}

// MRC-RSP-004
TEST_F(ResponderTest, ADuplicateIsAnsweredAgainAndNeverPlacedAgain) {
  start();
  EXPECT_EQ(feed(only(64), Psn(500)), Verdict::ok);
  drain();
  EXPECT_EQ(feed(only(64), Psn(500)), Verdict::duplicate);
  const auto again = drain();
  ASSERT_EQ(again.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<wire::Sack>(again[0].packet.body));
  EXPECT_TRUE(std::holds_alternative<wire::TransportAck>(again[1].packet.body));
  EXPECT_EQ(again[0].envelope.port, again[1].envelope.port) << "they leave together";
}

// MRC-RSP-005
TEST_F(ResponderTest, WhatMakesASackDue) {
  start();
  wire::Write middle = only(4096);
  middle.segment = wire::Segment::middle;
  middle.dma_length = 1 << 16;
  int psn = 500;
  for (int i = 0; i < 3; ++i) feed(middle, Psn(static_cast<std::uint32_t>(psn++)));
  EXPECT_TRUE(answers<wire::Sack>().empty());
  feed(middle, Psn(static_cast<std::uint32_t>(psn++)));  // 16 KiB
  EXPECT_EQ(answers<wire::Sack>().size(), 1u);

  wire::Write asks = middle;
  asks.ack_request = true;
  feed(asks, Psn(static_cast<std::uint32_t>(psn++)));
  EXPECT_EQ(answers<wire::Sack>().size(), 1u);

  wire::Write repaired = middle;
  repaired.retransmitted = true;
  feed(repaired, Psn(static_cast<std::uint32_t>(psn++)));
  EXPECT_EQ(answers<wire::Sack>().size(), 1u);

  feed(middle, Psn(static_cast<std::uint32_t>(psn++)),
       {.ev = Ev(9), .port = PortId(1), .ecn = wire::Ecn::ce});
  const auto marked = answers<wire::Sack>();
  ASSERT_EQ(marked.size(), 1u);
  EXPECT_EQ(marked[0].mark, wire::SackMark::skip_once);
  EXPECT_EQ(marked[0].entropy, Ev(9));

  feed(wire::Probe{.probe_id = 321}, Psn(0));
  const auto probed = answers<wire::Sack>();
  ASSERT_EQ(probed.size(), 1u);
  EXPECT_TRUE(probed[0].probe_reply);
  EXPECT_EQ(probed[0].ack_psn_offset, 321);
}

TEST_F(ResponderTest, APortThatIsLeavingSaysSo) {
  start();
  qp->responder().set_leaving(PortMask(1u << 2));
  feed(only(64), Psn(500), {.ev = Ev(4), .port = PortId(2)});
  const auto sacks = answers<wire::Sack>();
  ASSERT_EQ(sacks.size(), 1u);
  EXPECT_EQ(sacks[0].mark, wire::SackMark::always_skip);
}

// MRC-RSP-006
TEST_F(ResponderTest, TheLowestHoleAndTheRestTakeTurns) {
  start();
  wire::Write w = only(64);
  w.ack_request = true;
  std::vector<wire::Sack> sacks;
  for (std::uint32_t i = 1; i < 300; ++i) {  // PSN 500 is missing
    feed(w, Psn(500 + i));
    for (const auto& s : answers<wire::Sack>()) sacks.push_back(s);
  }
  bool rest = false;
  for (std::size_t i = sacks.size() - 40; i + 1 < sacks.size(); ++i) {
    EXPECT_TRUE(sacks[i].sack_offset == 1 || sacks[i + 1].sack_offset == 1);
    rest = rest || sacks[i].sack_offset > 128;
  }
  EXPECT_TRUE(rest);
  EXPECT_EQ(sacks.back().cack_psn, Psn(499));
  EXPECT_EQ(sacks.back().ooo_count, 299);
}

// MRC-RSP-007
TEST_F(ResponderTest, ATrimIsReportedAtOnceByItsClass) {
  start();
  using wire::TrafficClass;
  EXPECT_EQ(
      feed(only(64), Psn(501), {.ev = Ev(3), .port = PortId(1), .traffic_class = TrafficClass::trimmed}),
      Verdict::trimmed_ok);
  EXPECT_EQ(feed(only(64), Psn(502),
                 {.ev = Ev(4), .port = PortId(1), .traffic_class = TrafficClass::trimmed_lasthop}),
            Verdict::trimmed_ok);
  const auto nacks = answers<wire::Nack>();
  ASSERT_EQ(nacks.size(), 2u);
  EXPECT_EQ(nacks[0].reason, NackReason::trimmed);
  EXPECT_EQ(nacks[0].entropy, Ev(3));
  EXPECT_EQ(nacks[1].reason, NackReason::trimmed_lasthop);
  EXPECT_EQ(nacks[1].nack_psn, Psn(502));
}

// MRC-RSP-008
TEST_F(ResponderTest, AnImmediateWithoutAReceiveEndsTheQueuePair) {
  start();
  EXPECT_EQ(feed(only_imm(0), Psn(500)), Verdict::ok);
  EXPECT_TRUE(completions().empty());
  EXPECT_EQ(qp->state(), QpState::error);
  EXPECT_EQ(answers<wire::TransportAck>().at(0).syndrome, wire::Syndrome::remote_operational_error);
}

// MRC-RSP-008, MRC-RSP-010
TEST_F(ResponderTest, ANakCountsNoMessageWhoseImmediateWasNotDelivered) {
  start();
  qp->post_receive(1);
  for (std::uint16_t i = 0; i < 4; ++i) {  // a write between immediates counts, and one behind them does not
    wire::Write w = i % 2 == 0 ? only_imm(i / 2) : only(64);
    w.msn = i;
    EXPECT_EQ(feed(w, Psn(500u + i)), Verdict::ok);
  }
  EXPECT_EQ(completions().size(), 1u);
  const auto naks = answers<wire::TransportAck>();
  ASSERT_EQ(naks.size(), 1u);
  EXPECT_EQ(naks[0].syndrome, wire::Syndrome::remote_operational_error);
  EXPECT_EQ(naks[0].msn, 2u);
}

// MRC-RSP-008
TEST_F(ResponderTest, MoreImmediatesThanAgreedEndTheQueuePair) {
  start();
  EXPECT_EQ(feed(only_imm(32), Psn(540)), Verdict::too_many_wimm);
  EXPECT_EQ(qp->state(), QpState::error);
}

// MRC-RSP-009
TEST_F(ResponderTest, TheEchoLeavesOutTheTimeThatThePacketWasHeld) {
  start();
  wire::Write w = only(64);
  w.ack_request = w.has_timestamp = true;
  w.timestamp = {1000};
  feed(w, Psn(500));
  now += 128us;
  const auto sacks = answers<wire::Sack>();
  ASSERT_EQ(sacks.size(), 1u);
  EXPECT_EQ(sacks[0].echo.ticks, 2000);
}

TEST_F(ResponderTest, PenaltyAndRestoreTravelInSacks) {
  start();
  wire::Write w = only(64);
  w.ack_request = true;
  qp->responder().set_penalty(64);
  feed(w, Psn(500));
  EXPECT_EQ(answers<wire::Sack>().at(0).rcv_cwnd_pen, 64);
  qp->responder().restore_senders();
  feed(w, Psn(501));
  const auto sacks = answers<wire::Sack>();
  EXPECT_TRUE(sacks.at(0).restore_cwnd);
  EXPECT_EQ(sacks.at(0).rcv_cwnd_pen, 0);
}

TEST_F(ResponderTest, AForeignPartitionTouchesNothing) {
  start();
  wire::Packet p{.dqpn = Qpn(10), .psn = Psn(500), .pkey = 0x1234, .body = only(64)};
  EXPECT_EQ(qp->handle_packet(now, p, {}, *this), Verdict::bad_pkey);
  EXPECT_TRUE(drain().empty());
}

}  // namespace
}  // namespace mrc::engine
