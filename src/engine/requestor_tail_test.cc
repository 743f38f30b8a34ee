// What is sent once more although it may only be late, and what is not.
#include "engine/script.h"
#include "engine/sizes.h"

namespace mrc::engine {
namespace {

struct RequestorTailTest : Script {
  static constexpr int kPackets = 8;
  static constexpr std::uint64_t kAllButTheFourth = 0b1111'0;  // of those after the first three

  /// Two messages, the second 1 us behind the first; all is answered after 10 us, but the fourth packet.
  void begin(std::uint8_t eighths) {
    config.requestor.tail_eighths = eighths;
    start();
    post(4096 * 4);
    sent = drain();
    now += 1us;
    post(4096 * (kPackets - 4));
    drain();
    now += 9us;
    sack(Psn(102), kAllButTheFourth, wire::SackMark::none, 100);
  }
  /// What leaves until `end`, timers and all.
  std::vector<Transmit> live(Time end) {
    std::vector<Transmit> all = drain();
    while (qp->next_timeout() <= end) {
      now = qp->next_timeout();
      qp->handle_timeout(now);
      for (const auto& t : drain()) all.push_back(t);
    }
    now = end;
    return all;
  }
  static std::vector<Transmit> data_of(const std::vector<Transmit>& all) {
    std::vector<Transmit> data;
    for (const auto& t : all) {
      if (!is_probe(t)) data.push_back(t);
    }
    return data;
  }
  /// Every path works.
  void answer_probes(const std::vector<Transmit>& all, Psn cack) {
    for (const auto& t : all) {
      if (!is_probe(t)) continue;
      wire::Sack reply{.cack_psn = cack};
      reply.probe_reply = true;
      reply.ack_psn_offset = std::get<wire::Probe>(t.packet.body).probe_id;
      feed(reply, cack);
    }
  }
  std::vector<Transmit> sent;
};

// MRC-REQ-014
TEST_F(RequestorTailTest, TheLastOneMissingLeavesOnceMoreByAnotherPlane) {
  begin(16);
  EXPECT_TRUE(data_of(live(Time{} + 17us)).empty());
  const auto again = live(Time{} + 21us);
  const auto data = data_of(again);
  ASSERT_EQ(data.size(), 1u);
  EXPECT_EQ(data[0].packet.psn, Psn(103));
  EXPECT_TRUE(write_of(data[0]).retransmitted);
  EXPECT_NE(data[0].envelope.port, sent[3].envelope.port);
  // The path that it took may be dead: it carries nothing until it has answered.
  bool asked = false;
  for (const auto& t : again) asked = asked || (is_probe(t) && t.slot == sent[3].slot);
  EXPECT_TRUE(asked);
  EXPECT_TRUE(qp->paths().is_suspect(sent[3].slot));
}

// MRC-REQ-014
TEST_F(RequestorTailTest, OnceIsEnough) {
  begin(16);
  live(Time{} + 21us);
  EXPECT_TRUE(data_of(live(Time{} + 32us)).empty());
  EXPECT_EQ(qp->requestor().counters().repeats, 1u);
}

// MRC-REQ-014
TEST_F(RequestorTailTest, NothingIsRepeatedWithoutProofUnlessItIsSwitchedOn) {
  begin(0);
  EXPECT_TRUE(data_of(live(Time{} + 21us)).empty());
}

// MRC-REQ-014: then it is the peer that is late, not a path.
TEST_F(RequestorTailTest, WhereWhatLeftLaterIsNotAnsweredEitherNothingIsRepeated) {
  begin(16);
  sack(Psn(107), 0, wire::SackMark::none, 20);
  post(4096 * kPackets);
  drain();
  EXPECT_TRUE(data_of(live(now + 25us)).empty());
  EXPECT_EQ(qp->requestor().counters().repeats, 0u);
}

// MRC-REQ-014: new data does as well, and its answers will tell.
TEST_F(RequestorTailTest, WhileThereIsSomethingNewToSendNothingIsRepeated) {
  config.limits.max_wimm = 0;  // so that it stays unsent
  begin(16);
  post(64, true);
  EXPECT_TRUE(data_of(live(Time{} + 21us)).empty());
}

// MRC-REQ-014: a question that cannot leave would stand in the way of others.
TEST_F(RequestorTailTest, APlaneThatIsDownIsNotAsked) {
  begin(16);
  qp->handle_port(now, sent[3].envelope.port, false);
  EXPECT_EQ(data_of(live(Time{} + 21us)).size(), 1u);
  EXPECT_FALSE(qp->paths().is_suspect(sent[3].slot));
}

// The answer to the first copy comes right behind the second. Were that its age, what is usual would shrink
// with each of them, and in the end everything would look late.
TEST_F(RequestorTailTest, WhatIsRepeatedIsNoMeasureOfWhatIsUsual) {
  config.requestor.tail_eighths = 16;
  start();
  for (std::uint32_t round = 0; round < 100; ++round) {
    const Psn before(99 + round * 4);
    post(4096 * 3);
    drain();
    now += 1us;
    post(4096);
    drain();
    now += 9us;
    sack(before, 0b1000, wire::SackMark::none, 20);
    const auto early = live(now + 5us);
    EXPECT_TRUE(data_of(early).empty()) << round;
    answer_probes(early, before);
    const auto again = live(now + 6us);
    answer_probes(again, before);
    sack(before + 4, 0, wire::SackMark::none, 60);
    acknowledge(2 * round + 2);
  }
  EXPECT_GT(qp->requestor().counters().repeats, 100u);
}

// The copy and the packet itself arrive: the books balance, and nothing is left over.
TEST_F(RequestorTailTest, WhenBothArriveNothingStaysInFlight) {
  begin(16);
  live(Time{} + 21us);
  sack(Psn(107), 0, wire::SackMark::none, 40);
  acknowledge(2);
  live(Time{} + 1ms);
  EXPECT_EQ(qp->requestor().flight().in_flight(), 0);
  EXPECT_EQ(window.in_flight(), 0);
}

// MRC-CC-029
TEST_F(RequestorTailTest, WhenBothArriveNothingElseLeavesTheFlight) {
  begin(16);
  live(Time{} + 21us);
  ASSERT_EQ(qp->requestor().counters().repeats, 1u);
  post(4096);
  drain();
  sack(Psn(107), 0, wire::SackMark::none, 48);  // nine packets, of eight
  ASSERT_EQ(qp->requestor().flight().in_flight(), 1);
  EXPECT_EQ(window.in_flight(), std::int64_t{cc_bytes(4096, true, false)});
}

}  // namespace
}  // namespace mrc::engine
