// What is still to come: who counts it, when it is said, and what a sender makes of that.
#include "engine/incoming.h"

#include <algorithm>

#include "engine/script.h"
#include "engine/sizes.h"

namespace mrc::engine {
namespace {

TEST(Expected, AMessageCountsOnceAndUntilItHasArrived) {
  Incoming all;
  Expected qp(&all);
  EXPECT_FALSE(qp.all_fit(1 << 30)) << "nothing is to come";
  qp.announce(0, 10'000);
  qp.announce(0, 10'000);
  EXPECT_EQ(all.bytes(), 10'000u);
  EXPECT_FALSE(qp.all_fit(9'999));
  EXPECT_TRUE(qp.all_fit(10'000));
  qp.arrive(4'096);
  qp.announce(1, 500);
  EXPECT_EQ(all.bytes(), 6'404u);
  qp.arrive(6'404);
  EXPECT_EQ(all.bytes(), 0u);
  EXPECT_FALSE(qp.all_fit(10'000));
}

TEST(Expected, WhatWasNotAnnouncedTakesNothingFromOthers) {
  Incoming all;
  Expected one(&all), other(&all);
  other.announce(0, 5'000);
  one.announce(1, 1'000);  // overtook message 0
  one.announce(0, 8'000);
  one.arrive(4'096);
  one.arrive(4'096);
  EXPECT_EQ(all.bytes(), 5'000u);
}

TEST(Expected, NumbersOfMessagesWrap) {
  Incoming all;
  Expected qp(&all);
  for (std::uint32_t msn = 0; msn < 70'000; ++msn) {
    qp.announce(static_cast<std::uint16_t>(msn), 10);
    ASSERT_EQ(all.bytes(), 10u) << msn;
    qp.arrive(10);
  }
}

TEST(Expected, AQueuePairThatEndsExpectsNothing) {
  Incoming all;
  {
    Expected qp(&all);
    qp.announce(0, 5'000);
  }
  EXPECT_EQ(all.bytes(), 0u);
  Expected alone(nullptr);
  alone.announce(0, 5'000);
  alone.arrive(5'000);
  EXPECT_FALSE(alone.all_fit(1 << 30)) << "nobody asks";
}

constexpr std::uint32_t kMtu = 4096;

class IncomingTest : public Script {
 protected:
  /// A QP of a NIC, with a window of three packets: what it says fits are five.
  void join() {
    config.incoming = &incoming;
    start(small);
  }
  /// Packet `i` of a message of `packets`, with a request for an answer.
  static wire::Write part(std::uint32_t packets, std::uint32_t i) {
    wire::Write w = only(kMtu);
    w.dma_length = packets * kMtu;
    w.va += i * kMtu;
    w.segment = i == 0             ? wire::Segment::first
                : i + 1 == packets ? wire::Segment::last
                                   : wire::Segment::middle;
    w.ack_request = true;
    return w;
  }
  bool says_it_fits() {
    const auto sacks = answers<wire::Sack>();
    return !sacks.empty() && sacks.back().restore_cwnd;
  }
  Incoming incoming;
  ConstantWindow small{3 * kMtu};
};

// MRC-EV-021: each of a thousand QPs that receive a little would ask once per so many round trips.
TEST_F(IncomingTest, WhoReceivesLittleAsksWhenItIsTheNicsTime) {
  incoming = Incoming(100ms);
  join();
  Psn next(500);
  const auto asks_after = [&](Duration rest) {
    now += rest;
    feed(only(64), next);
    next = next + 1;
    const auto asked = answers<wire::Probe>();
    now += 1us;
    for (const wire::Probe& probe : asked) {
      feed(wire::Sack{.ack_psn_offset = static_cast<std::int16_t>(probe.probe_id), .probe_reply = true},
           Psn(0));
    }
    return !asked.empty();
  };
  EXPECT_TRUE(asks_after(0us)) << "nothing is known yet";
  now += 1s;
  ASSERT_TRUE(incoming.take_question(now)) << "by another QP";
  EXPECT_FALSE(asks_after(99ms));
  EXPECT_TRUE(asks_after(1ms));
  for (int i = 0; i < config.requestor.reverse_probe_packets - 1; ++i) ASSERT_FALSE(asks_after(10us)) << i;
  EXPECT_TRUE(asks_after(10us)) << "much has come here alone";
}

// MRC-RSP-011
TEST_F(IncomingTest, SendersHearWhenAllThatIsToComeFits) {
  join();
  for (std::uint32_t i = 0; i < 10; ++i) {
    feed(part(10, i), Psn(500) + static_cast<std::int32_t>(i));
    const std::uint32_t left = 9 - i;
    EXPECT_EQ(says_it_fits(), left > 0 && left <= 5) << left << " to come";
  }
}

TEST_F(IncomingTest, NotWhileAnotherQueuePairExpectsMore) {
  join();
  Expected other(&incoming);
  other.announce(0, 4 * kMtu);
  feed(part(4, 0), Psn(500));
  EXPECT_FALSE(says_it_fits()) << "three here, four there";
  other.arrive(2 * kMtu);
  feed(part(4, 1), Psn(501));
  EXPECT_TRUE(says_it_fits());
}

TEST_F(IncomingTest, ATrimmedPacketAnnouncesItsMessageToo) {
  join();
  wire::Envelope trimmed{
      .ev = Ev(1), .port = PortId(1), .traffic_class = wire::TrafficClass::trimmed_lasthop};
  feed(part(10, 3), Psn(503), trimmed);
  EXPECT_EQ(incoming.bytes(), 10 * kMtu);
}

TEST_F(IncomingTest, AQueuePairInErrorExpectsNothing) {
  join();
  feed(part(10, 0), Psn(500));
  EXPECT_EQ(incoming.bytes(), 9 * kMtu);
  qp->modify(now, QpState::error);
  EXPECT_EQ(incoming.bytes(), 0u);
}

TEST_F(IncomingTest, NotWhileSendersAreAskedToShrink) {
  join();
  qp->responder().set_penalty(10);
  feed(part(2, 0), Psn(500));
  EXPECT_FALSE(says_it_fits());
}

TEST_F(IncomingTest, OrNobodyIsTold) {
  config.responder.restore_at_end = false;
  join();
  feed(part(2, 0), Psn(500));
  EXPECT_FALSE(says_it_fits());
}

/// A window that lets two packets go, and remembers what it was told about the rest.
class Listener final : public NoCongestionControl {
 public:
  void on_sack(Time, const Feedback& f) override { rest = f.rest; }
  bool may_send(std::uint32_t) const override { return in_flight() < 2 * static_cast<std::int64_t>(kMtu); }
  std::uint64_t rest = 0;
};

class RestTest : public Script {
 protected:
  std::uint64_t packets_after(Psn arrived, bool restore = true) {
    feed(wire::Sack{.cack_psn = arrived, .sack_offset = 1, .restore_cwnd = restore}, arrived);
    return listener.rest / cc_bytes_max(kMtu);
  }
  Listener listener;
};

// MRC-CC-030
TEST_F(RestTest, IsWhatHasYetToLeave) {
  start(listener);
  post(10 * kMtu);
  ASSERT_EQ(drain().size(), 2u);
  EXPECT_EQ(packets_after(Psn(100), false), 0u) << "nobody asked";
  EXPECT_EQ(packets_after(Psn(100)), 8u);
}

TEST_F(RestTest, IsNothingWhereThePeerCannotKnowOfAllOfIt) {
  start(listener);
  post(2 * kMtu);
  post(10 * kMtu);
  ASSERT_EQ(drain().size(), 2u);
  EXPECT_EQ(packets_after(Psn(101)), 0u) << "the second message has not begun";
}

TEST_F(RestTest, NorWhereThePeerHasNotSeenTheLastMessage) {
  start(listener);
  post(kMtu);
  post(10 * kMtu);
  ASSERT_EQ(drain().size(), 2u);
  EXPECT_EQ(packets_after(Psn(100)), 0u) << "it has left, but who knows";
  EXPECT_EQ(packets_after(Psn(101)), 9u);
}

}  // namespace
}  // namespace mrc::engine
