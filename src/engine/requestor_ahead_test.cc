// What a QP asks while it has nothing to carry, and what it knows when it has.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "engine/script.h"

namespace mrc::engine {
namespace {

struct RequestorAheadTest : Script {
  void begin(std::uint8_t at_once) {
    config.paths.ask_ahead = at_once;
    start();
  }
  /// Time passes to the next timeout, at most until `end`; what left then.
  std::vector<Transmit> wait(Time end) {
    now = std::min(end, qp->next_timeout());
    qp->handle_timeout(now);
    return drain();
  }
  void answer(const Transmit& t) {
    const auto& probe = std::get<wire::Probe>(t.packet.body);
    wire::Sack reply{.cack_psn = Psn(99)};
    reply.probe_reply = true;
    reply.ack_psn_offset = probe.probe_id;
    feed(reply, Psn(99));
  }
  /// Until `end` the peer answers all but the dead, 5 us later. Counts the questions that each EV got.
  void live(Time end, const std::set<int>& dead = {}) {
    while (now < end) {
      auto sent = wait(end);
      while (!sent.empty()) {
        now += 5us;
        most = std::max(most, sent.size());
        for (const auto& t : sent) {
          if (is_probe(t)) ++asked[t.slot.value];
          if (is_probe(t) && !dead.contains(t.slot.value)) answer(t);
        }
        sent = drain();
      }
    }
  }
  std::map<int, int> asked;
  std::size_t most = 0;
};

// MRC-EV-018
TEST_F(RequestorAheadTest, EveryEvIsAskedAFewAtATime) {
  begin(3);
  live(now + 2ms);
  EXPECT_EQ(asked.size(), 16u);
  EXPECT_LE(most, 4u);  // and one question whether the peer is there
}

// MRC-EV-018
TEST_F(RequestorAheadTest, WhatIsDeadFromTheStartCarriesNoPacket) {
  begin(4);
  live(now + 2ms, {3, 11});
  EXPECT_EQ(qp->paths().state(EvSlot(3)), EvState::assumed_bad);
  EXPECT_EQ(qp->paths().state(EvSlot(11)), EvState::assumed_bad);
  EXPECT_EQ(qp->paths().rotation().active(), 14);
  post(4096 * 64);
  for (const auto& t : drain()) {
    if (is_probe(t)) continue;
    EXPECT_NE(t.slot.value, 3);
    EXPECT_NE(t.slot.value, 11);
  }
}

// MRC-EV-018: the peer may come later than we do.
TEST_F(RequestorAheadTest, SilenceBeforeTheFirstAnswerBlamesNoPath) {
  begin(4);
  std::size_t knocks = 0;
  for (const Time end = now + 1s; now < end;) knocks += wait(end).size();
  EXPECT_GE(knocks, 2u);
  EXPECT_LE(knocks, 4u);
  EXPECT_EQ(qp->paths().rotation().active(), 16);
}

// MRC-EV-018
TEST_F(RequestorAheadTest, WhoHasSomethingToSendAsksNothing) {
  begin(4);
  post(4096 * 4);
  for (const auto& t : drain()) EXPECT_FALSE(is_probe(t));
  now += 5us;
  sack(Psn(103), 0, wire::SackMark::none, 64);
  acknowledge(1);
  live(now + 2ms);
  EXPECT_TRUE(asked.empty());
}

// MRC-EV-018
TEST_F(RequestorAheadTest, WhoReceivesAsksNoMoreThanUsual) {
  begin(4);
  feed(only(64), Psn(200));
  drain();
  live(now + 2ms);
  EXPECT_LE(asked.size(), 2u);
}

TEST_F(RequestorAheadTest, WithoutTheSettingNothingIsAsked) {
  begin(0);
  EXPECT_EQ(qp->next_timeout(), kNever);
}

}  // namespace
}  // namespace mrc::engine
