// The requestor, one packet at a time.
#include <set>

#include "engine/nscc.h"
#include "engine/script.h"

namespace mrc::engine {
namespace {

using RequestorTest = Script;

// MRC-REQ-001
TEST_F(RequestorTest, AMessageIsCutAtTheMtuAndEachPacketCarriesItsAddress) {
  start();
  ASSERT_EQ(post(10000), 0);
  const auto sent = drain();
  ASSERT_EQ(sent.size(), 3u);
  const std::uint16_t sizes[] = {4096, 4096, 1808};
  const wire::Segment segments[] = {wire::Segment::first, wire::Segment::middle, wire::Segment::last};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& w = write_of(sent[i]);
    EXPECT_EQ(sent[i].packet.psn, Psn(100) + static_cast<int>(i));
    EXPECT_EQ(w.va, 4096 + i * 4096);
    EXPECT_EQ(w.payload, sizes[i]);
    EXPECT_EQ(w.dma_length, 10000u);
    EXPECT_EQ(w.segment, segments[i]);
    EXPECT_EQ(sent[i].offset, i * 4096);
  }
  EXPECT_TRUE(write_of(sent[2]).ack_request);
}

TEST_F(RequestorTest, NothingIsAMessageOfOnePacketToo) {
  start();
  ASSERT_EQ(post(0), 0);
  const auto sent = drain();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(write_of(sent[0]).segment, wire::Segment::only);
  EXPECT_EQ(write_of(sent[0]).payload, 0);
}

// MRC-REQ-002
TEST_F(RequestorTest, MethCountsMessagesAndImmediates) {
  start();
  for (bool imm : {false, true, false, true}) post(64, imm);
  const auto sent = drain();
  ASSERT_EQ(sent.size(), 4u);
  const std::uint16_t rqmsn[] = {0, 0, 1, 1};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(write_of(sent[i]).msn, i);
    EXPECT_EQ(write_of(sent[i]).rqmsn, rqmsn[i]);
  }
}

// MRC-REQ-003
TEST_F(RequestorTest, NothingLeavesBeyondTheWindow) {
  start();
  post(4096 * 2000);
  EXPECT_EQ(drain().size(), 1024u);
  sack(Psn(109));
  EXPECT_EQ(drain().size(), 10u);
}

// MRC-REQ-003
TEST_F(RequestorTest, ADynamicWindowThatShrinksStopsNewData) {
  config.limits.mpr = 16;
  config.limits.dynamic_mpr = true;
  start();
  post(4096 * 4000);
  EXPECT_EQ(drain().size(), 2048u);
  feed(wire::Sack{.cack_psn = Psn(199), .sack_offset = 1, .mpr = 8}, Psn(199));
  EXPECT_EQ(drain().size(), 0u);
}

TEST_F(RequestorTest, ASprayUnitLeavesAsAWhole) {
  config.paths.spray_unit = 8;
  start();
  post(4096 * 1034);
  EXPECT_EQ(drain().size(), 1024u);
  now += 10us;
  sack(Psn(102));  // room for three
  EXPECT_TRUE(drain().empty());
  sack(Psn(107));
  const auto unit = drain();
  ASSERT_EQ(unit.size(), 8u);
  for (const auto& t : unit) EXPECT_EQ(t.slot, unit[0].slot);
  sack(Psn(109));  // the last two are all there is: no need to wait for more
  EXPECT_EQ(drain().size(), 2u);
}

// MRC-REQ-008
TEST_F(RequestorTest, AMessageThatWaitsHalfwayForASharedWindowAsksNobodyAndCountsNoRetry) {
  start();
  post(4096 * 8);
  Transmit t;
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(qp->poll_transmit(now, kAll, t));
  window.on_send(now, 1 << 26);  // another QP's turn
  now += 10us;
  sack(Psn(103));
  EXPECT_TRUE(drain().empty());
  now = qp->next_timeout();
  qp->handle_timeout(now);
  EXPECT_TRUE(drain().empty());
  EXPECT_EQ(qp->next_timeout(), kNever);  // everything that left has arrived: the peer owes us nothing
  now += 30s;
  window.on_settled(now, 1 << 26);
  EXPECT_EQ(drain().size(), 4u);
  now += 10us;
  qp->handle_timeout(now);  // and the wait does not count against what left after it
  EXPECT_EQ(qp->requestor().counters().retries, 0u);
  acknowledge(1);
  EXPECT_EQ(completions().size(), 1u);
}

// MRC-REQ-004, MRC-REQ-005, MRC-EV-004
TEST_F(RequestorTest, ANewerPacketOfTheSameEvBetraysTheLoss) {
  start();
  post(4096 * 32);  // two rotations over 16 EVs
  const auto sent = drain();
  const EvSlot ev = sent[3].slot;
  std::size_t later = 4;
  while (sent[later].slot != ev) ++later;
  // Everything arrived but packet 3, up to and including the next one of its EV.
  std::uint64_t bits = 0;
  for (std::size_t i = 4; i <= later; ++i) bits |= std::uint64_t{1} << (i - 3);
  now += 10us;
  EXPECT_EQ(sack(Psn(102), bits, wire::SackMark::none, 100), Verdict::ok);
  EXPECT_EQ(qp->paths().state(ev), EvState::assumed_bad);
  for (const auto& t : drain()) {
    if (is_probe(t)) continue;
    EXPECT_EQ(t.packet.psn, Psn(103));
    EXPECT_TRUE(write_of(t).retransmitted);
    EXPECT_EQ(write_of(t).va, write_of(sent[3]).va);
    EXPECT_EQ(t.envelope.traffic_class, wire::TrafficClass::trimmable_retx);
    EXPECT_NE(t.slot, ev);
  }
  EXPECT_EQ(qp->requestor().counters().repairs, 1u);
}

// MRC-REQ-005: what swallowed one packet may have swallowed its whole plane.
TEST_F(RequestorTest, ARepairLeavesByAnotherPlaneWhileThereIsOne) {
  start();
  post(64);
  const PortId first = drain().at(0).envelope.port;
  PortId second;
  for (int i = 0; i < 10'000 && second == PortId(); ++i) {
    now = qp->next_timeout();
    qp->handle_timeout(now);
    for (const auto& t : drain()) {
      if (!is_probe(t)) second = t.envelope.port;
    }
  }
  EXPECT_NE(second, PortId());
  EXPECT_NE(second, first);
}

// Everything arrived, and the word that it was executed is lost: whoever asks again and again must not ask by
// the one way that died.
TEST_F(RequestorTest, ALostTransportAckIsAskedForByMoreThanOnePlane) {
  config.paths.spray_unit = 8;
  start();
  post(64);
  drain();
  now += 10us;
  sack(Psn(100), 0, wire::SackMark::none, 1);
  std::set<int> probed, nudged;
  for (int i = 0; i < 10'000 && nudged.size() < 2; ++i) {
    now = qp->next_timeout();
    qp->handle_timeout(now);
    for (const auto& t : drain()) (is_probe(t) ? probed : nudged).insert(t.envelope.port.value);
  }
  EXPECT_EQ(probed.size(), 2u);
  EXPECT_EQ(nudged.size(), 2u);
}

// MRC-REQ-004
TEST_F(RequestorTest, NewerPacketsOfOtherEvsProveNothing) {
  start();
  post(4096 * 16);
  const auto sent = drain();
  now += 1us;
  sack(Psn(99), 0xFFFE, wire::SackMark::none, 100);
  EXPECT_EQ(qp->requestor().counters().lost_by_order, 0u);
  EXPECT_EQ(qp->requestor().flight().in_flight(), 1);
}

// MRC-REQ-004
TEST_F(RequestorTest, AStaleSackProvesNoLoss) {
  start();
  post(4096 * 32);
  drain();
  now += 10us;
  sack(Psn(131), 0, wire::SackMark::none, 500);
  const auto before = qp->requestor().counters().lost_by_order;
  feed(wire::Sack{.cack_psn = Psn(99), .rcvd_bytes = 10, .sack_offset = 1}, Psn(99));
  EXPECT_EQ(qp->requestor().counters().lost_by_order, before);
}

// MRC-REQ-006
TEST_F(RequestorTest, ImmediatesInFlightStayWithinTheLimit) {
  config.limits.max_wimm = 3;
  start();
  for (int i = 0; i < 5; ++i) post(64, true);
  EXPECT_EQ(drain().size(), 3u);
  acknowledge(1);
  EXPECT_EQ(drain().size(), 1u);
}

// MRC-REQ-007
TEST_F(RequestorTest, ASilentTailIsAskedLongBeforeTheTimeout) {
  start();
  post(64);
  ASSERT_EQ(drain().size(), 1u);
  std::vector<Transmit> asked;
  while (asked.empty() && now < Time{} + 1ms) {
    now = qp->next_timeout();
    qp->handle_timeout(now);
    asked = drain();
  }
  ASSERT_GE(asked.size(), 1u);
  EXPECT_TRUE(is_probe(asked[0]));
}

/// A QP that hears nothing more, until it asks a path.
class SilenceTest : public Script {
 protected:
  Duration until_asked() {
    const Time from = now;
    for (int i = 0; i < 1000; ++i) {
      now = std::max(now, qp->next_timeout());
      qp->handle_timeout(now);
      for (const Transmit& t : drain()) {
        if (is_probe(t)) return now - from;
      }
    }
    return Duration::max();
  }
  int rounds = 0;
};

// MRC-REQ-007
TEST_F(SilenceTest, TheFirstAnswerEndsTheGuessAboutTheRoundTrip) {
  start();
  post(4096 * 3);
  ASSERT_EQ(drain().size(), 3u);
  now += 5us;
  sack(Psn(101));
  EXPECT_LT(until_asked(), 20us) << "timed by the answer, not by initial_rtt";
}

// MRC-REQ-007
TEST_F(SilenceTest, TimeLostToALostAnswerIsNotTakenForTheRoundTrip) {
  evs = 2;
  start();
  for (const Duration answered_after : {Duration(5us), Duration(5us), Duration(500us)}) {
    const Psn last = Psn(101) + 2 * rounds++;
    post(8192);
    ASSERT_EQ(drain().size(), 2u);
    now += answered_after;
    sack(last);
    drain();
  }
  post(8192);
  ASSERT_GE(drain().size(), 2u);
  EXPECT_LT(until_asked(), 50us);
}

// MRC-REQ-008
TEST_F(RequestorTest, RetriesAreLinearThenExponentialThenTheEnd) {
  config.requestor.timeout = 10;
  config.requestor.linear_retries = 2;
  config.requestor.exponential_retries = 2;
  start();
  post(64);
  std::vector<Duration> gaps;
  Time last{};
  std::uint64_t seen = 0;
  while (qp->state() == QpState::rts) {
    drain();
    now = qp->next_timeout();
    ASSERT_LT(now, Time{} + 1s);
    qp->handle_timeout(now);
    if (qp->requestor().counters().retries == seen && qp->state() == QpState::rts) continue;
    seen = qp->requestor().counters().retries;
    gaps.push_back(now - last);
    last = now;
  }
  const Duration t = Duration(1024 << 10);
  EXPECT_EQ(gaps, (std::vector<Duration>{t, t, t, 2 * t, 4 * t}));
  const auto done = completions();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, WorkStatus::retry_exceeded);
}

// MRC-REQ-009, MRC-REQ-010
TEST_F(RequestorTest, OnlyTheTransportAckCompletes) {
  start();
  post(64);
  drain();
  sack(Psn(100));
  EXPECT_TRUE(completions().empty());
  acknowledge(1);
  EXPECT_EQ(completions().size(), 1u);
  acknowledge(1);
  EXPECT_TRUE(completions().empty());
}

// MRC-REQ-009
TEST_F(RequestorTest, UnsignalledWorkIsSilentAndErrorsFlushEverythingOnce) {
  start();
  for (int i = 0; i < 4; ++i) post(64, false, i != 1);
  drain();
  acknowledge(2);
  EXPECT_EQ(completions().size(), 1u);
  acknowledge(2, wire::Syndrome::remote_access_error);
  const auto rest = completions();
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(rest[0].wr_id, 3u);
  EXPECT_EQ(rest[0].status, WorkStatus::remote_access_error);
  EXPECT_EQ(rest[1].status, WorkStatus::flushed);
  EXPECT_EQ(qp->state(), QpState::error);
  EXPECT_TRUE(completions().empty());
}

// MRC-EV-002
TEST_F(RequestorTest, ATrimMakesTheEvSkipATurnAndTheLastHopDoesNot) {
  start();
  post(4096 * 4);
  const auto sent = drain();
  feed(wire::Nack{.entropy = sent[1].envelope.ev, .nack_psn = Psn(101), .reason = wire::NackReason::trimmed},
       Psn(101));
  EXPECT_EQ(qp->paths().state(sent[1].slot), EvState::skip);
  feed(
      wire::Nack{
          .entropy = sent[2].envelope.ev, .nack_psn = Psn(102), .reason = wire::NackReason::trimmed_lasthop},
      Psn(102));
  EXPECT_EQ(qp->paths().state(sent[2].slot), EvState::good);
  EXPECT_EQ(drain().size(), 2u);
}

TEST_F(RequestorTest, AnUnexpectedEventEndsTheQueuePair) {
  start();
  post(64);
  drain();
  feed(wire::Nack{.nack_psn = Psn(100), .reason = wire::NackReason::unexp_event}, Psn(100));
  EXPECT_EQ(qp->state(), QpState::error);
  EXPECT_EQ(completions()[0].status, WorkStatus::remote_operation_error);
}

TEST_F(RequestorTest, AnswersToWhatWasNeverSentAreStale) {
  start();
  EXPECT_EQ(sack(Psn(150)), Verdict::stale);
  EXPECT_EQ(acknowledge(1), Verdict::stale);
  EXPECT_EQ(feed(wire::Nack{.nack_psn = Psn(100)}, Psn(100)), Verdict::stale);
  EXPECT_EQ(qp->state(), QpState::rts);
}

TEST_F(RequestorTest, AnEmptyPoolIsBackPressureNotAnError) {
  pool = RecordPool(64);
  start();
  post(4096 * 200);
  EXPECT_LE(drain().size(), 64u);
  sack(Psn(127), 0, wire::SackMark::none, 100);
  EXPECT_GT(drain().size(), 0u);
  EXPECT_EQ(qp->state(), QpState::rts);
}

// Everything is given up, and then turns out to have arrived: more leaves the flight than was in it. What
// remains must be nothing, or the window stays shut by packets that nobody has.
TEST_F(RequestorTest, TheBooksBalanceAfterLossesThatWereNone) {
  constexpr int kPackets = 400;
  Nscc nscc(default_nscc({.bits_per_second = 10'000'000'000}));
  for (Congestion* cc : {static_cast<Congestion*>(&window), static_cast<Congestion*>(&nscc)}) {
    table.clear();
    start();
    qp.emplace(config, *cc, pool);
    for (auto s : {QpState::init, QpState::rtr, QpState::rts}) ASSERT_EQ(qp->modify(now, s), 0);
    post(4096 * kPackets);
    const auto all = drain();
    const int sent = static_cast<int>(all.size());
    ASSERT_GT(sent, 0);
    for (const auto& t : all)
      feed(wire::Nack{.nack_psn = t.packet.psn, .reason = wire::NackReason::no_pkt_buffer}, t.packet.psn);
    ASSERT_EQ(qp->requestor().flight().lost(), sent);
    feed(wire::Sack{.cack_psn = Psn(99) + sent, .rcvd_bytes = 0x400000}, Psn(99) + sent);
    EXPECT_EQ(qp->requestor().flight().outstanding(), 0);
    EXPECT_EQ(cc->in_flight(), 0);
    post(4096);
    now += 10ms;  // a paced sender takes its time
    EXPECT_FALSE(drain().empty());
  }
}

}  // namespace
}  // namespace mrc::engine
