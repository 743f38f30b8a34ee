// The requestor, one packet at a time: what it sends, and what ends a message. Losses:
// requestor_loss_test.cc.
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

/// Of a window that is its own it asks for answers by its quarter, of one that others use every 16 KiB.
TEST_F(RequestorTest, WhoSharesAWindowAsksForAnswersMoreOften) {
  start();
  const auto asked = [&] {
    post(16 * 4096);
    std::vector<std::size_t> out;
    const auto sent = drain();
    for (std::size_t i = 0; i < sent.size(); ++i)
      if (write_of(sent[i]).ack_request) out.push_back(i + 1);
    return out;
  };
  EXPECT_EQ(asked(), (std::vector<std::size_t>{16})) << "the end";
  window.on_send(now, 4096);  // another QP's packet
  EXPECT_EQ(asked(), (std::vector<std::size_t>{4, 8, 12, 16}));
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

// MRC-REQ-006
TEST_F(RequestorTest, ImmediatesInFlightStayWithinTheLimit) {
  config.limits.max_wimm = 3;
  start();
  for (int i = 0; i < 5; ++i) post(64, true);
  EXPECT_EQ(drain().size(), 3u);
  acknowledge(1);
  EXPECT_EQ(drain().size(), 1u);
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
