// Which packets the requestor takes for lost, when it asks, and when it gives up.
#include <set>

#include "engine/script.h"

namespace mrc::engine {
namespace {

class RequestorLossTest : public Script {
 protected:
  void start_with_retries(std::uint8_t timeout, std::uint8_t linear, std::uint8_t exponential) {
    config.requestor.timeout = timeout;
    config.requestor.linear_retries = linear;
    config.requestor.exponential_retries = exponential;
    start();
  }
  void expect_retries_exceeded() {
    const auto done = completions();
    ASSERT_EQ(done.size(), 1u);
    EXPECT_EQ(done[0].status, WorkStatus::retry_exceeded);
  }
};

// MRC-REQ-004, MRC-REQ-005, MRC-EV-004
TEST_F(RequestorLossTest, ANewerPacketOfTheSameEvBetraysTheLoss) {
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
TEST_F(RequestorLossTest, ARepairLeavesByAnotherPlaneWhileThereIsOne) {
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
TEST_F(RequestorLossTest, ALostTransportAckIsAskedForByMoreThanOnePlane) {
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
TEST_F(RequestorLossTest, NewerPacketsOfOtherEvsProveNothing) {
  start();
  post(4096 * 16);
  const auto sent = drain();
  now += 1us;
  sack(Psn(99), 0xFFFE, wire::SackMark::none, 100);
  EXPECT_EQ(qp->requestor().counters().lost_by_order, 0u);
  EXPECT_EQ(qp->requestor().flight().in_flight(), 1);
}

// MRC-NIC-017: a host that stood still made no retry, which would tell that the silence was long.
TEST_F(RequestorLossTest, TheFirstAnswerAfterALongSilenceProvesNothingAboutTheRest) {
  start();
  post(4096);
  drain();
  now += 10us;
  sack(Psn(100), 0, wire::SackMark::none, 1);
  for (int i = 0; i < 3; ++i, now += 1us) {
    post(4096);
    drain();
  }
  now += 50ms;
  sack(Psn(100), 0b10, wire::SackMark::none, 3);
  EXPECT_EQ(qp->requestor().counters().lost_by_timeout, 0u) << "the peer may come to it next";
  now += 10ms;
  sack(Psn(100), 0b110, wire::SackMark::none, 4);
  EXPECT_EQ(qp->requestor().counters().lost_by_timeout, 1u) << "it did not";
}

// MRC-REQ-004
TEST_F(RequestorLossTest, AStaleSackProvesNoLoss) {
  start();
  post(4096 * 32);
  drain();
  now += 10us;
  sack(Psn(131), 0, wire::SackMark::none, 500);
  const auto before = qp->requestor().counters().lost_by_order;
  feed(wire::Sack{.cack_psn = Psn(99), .rcvd_bytes = 10, .sack_offset = 1}, Psn(99));
  EXPECT_EQ(qp->requestor().counters().lost_by_order, before);
}

// MRC-REQ-007
TEST_F(RequestorLossTest, ASilentTailIsAskedLongBeforeTheTimeout) {
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
TEST_F(RequestorLossTest, RetriesAreLinearThenExponentialThenTheEnd) {
  start_with_retries(10, 2, 2);
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
  expect_retries_exceeded();
}

// MRC-REQ-008: work that no port is left for fails in the same time as packets that nobody answers.
TEST_F(RequestorLossTest, WorkWithoutAPortIsRetriedAndThenFails) {
  start_with_retries(4, 2, 0);
  now += 1s;
  for (const std::uint8_t p : {1, 2}) qp->handle_port(now, PortId(p), false);
  EXPECT_EQ(qp->next_timeout(), kNever) << "nothing waits";
  post(64);
  EXPECT_TRUE(drain().empty());
  const Time posted = now;
  EXPECT_EQ(qp->next_timeout(), posted + 16384ns);
  for (int i = 0; i < 10 && qp->next_timeout() != kNever; ++i) {
    now = qp->next_timeout();
    qp->handle_timeout(now);
  }
  EXPECT_EQ(now, posted + 3 * 16384ns);
  expect_retries_exceeded();
}

TEST_F(RequestorLossTest, APortThatComesBackInTimeSavesTheWork) {
  start_with_retries(4, 2, 0);
  post(64);
  for (const std::uint8_t p : {1, 2}) qp->handle_port(now, PortId(p), false);
  now = qp->next_timeout();
  qp->handle_timeout(now);
  EXPECT_EQ(qp->requestor().counters().retries, 1u);
  qp->handle_port(now, PortId(1), true);
  EXPECT_EQ(drain().size(), 1u);
  sack(Psn(100));
  acknowledge(1);
  EXPECT_EQ(completions().size(), 1u);
}

}  // namespace
}  // namespace mrc::engine
