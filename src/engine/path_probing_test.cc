// Asking a path: probes, silence, and what brings an EV back.
#include <set>

#include "engine/path_set_testing.h"

namespace mrc::engine {
namespace {

// MRC-EV-007
TEST_F(PathSetTest, ThreeAnswersBringAnEvBack) {
  const auto t = table(1, 4);
  PathSet p(t, {}, 1, quiet);
  p.note_bad(now, EvSlot(1), PathCause::loss);
  EXPECT_EQ(answer_probes(p), 3);
  EXPECT_EQ(p.state(EvSlot(1)), EvState::good);
  EXPECT_EQ(p.rotation().active(), 4);
}

// MRC-EV-007
TEST_F(PathSetTest, UnansweredProbesBackOffToASecond) {
  const auto t = table(1, 4);
  PathSet p(t, {}, 1, quiet);
  p.note_bad(now, EvSlot(1), PathCause::loss);
  int bursts = 0;
  Time last{};
  Duration longest{0};
  while (now < Time{} + 30s) {
    p.handle_timeout(now);
    int probes = 0;
    while (p.poll_probe(now, kAll, TxOrder(1))) ++probes;
    if (probes > 0) {
      longest = std::max(longest, now - last);
      last = now;
      ++bursts;
    }
    now = p.next_timeout();
  }
  EXPECT_GT(bursts, 20);
  EXPECT_LT(bursts, 60);
  EXPECT_GE(longest, 900ms);
  EXPECT_LE(longest, 1100ms);
}

// MRC-EV-008
TEST_F(PathSetTest, OnlyTheOneThatLosesMoreThanItsShareMustProveMore) {
  const auto t = table(1, 16);
  PathSet p(t, {}, 1, quiet);
  int first = 0, last = 0;
  for (int i = 0; i < 6; ++i) {
    p.note_bad(now, EvSlot(7), PathCause::loss);
    last = answer_probes(p);
    if (i == 0) first = last;
  }
  EXPECT_EQ(first, 3);
  EXPECT_GT(last, 12);
  PathSet q(t, {}, 1, quiet);
  for (int round = 0; round < 6; ++round) {
    for (std::uint16_t i = 0; i < 16; ++i) {
      q.note_bad(now, EvSlot(i), PathCause::loss);
      EXPECT_LE(answer_probes(q), 6);
    }
  }
}

TEST_F(PathSetTest, AnAnswerCountsOnce) {
  const auto t = table(1, 4);
  PathSet p(t, {}, 1, quiet);
  p.note_bad(now, EvSlot(1), PathCause::loss);
  const auto probe = p.poll_probe(now, kAll, TxOrder(1));
  ASSERT_TRUE(probe);
  EXPECT_TRUE(p.on_probe_answer(now, probe->id));
  EXPECT_FALSE(p.on_probe_answer(now, probe->id));
  EXPECT_FALSE(p.on_probe_answer(now, 0xFFFF));
}

// MRC-EV-011
TEST_F(PathSetTest, APlaneThatDoesNotAnswerCarriesNoControl) {
  const auto t = table(2, 8);
  PathSet p(t, {}, 1, quiet);
  p.ask_reverse(10us);
  const auto probe = p.poll_probe(now, kAll, TxOrder(1));
  ASSERT_TRUE(probe);
  const PortId deaf = t[probe->slot.value].port;
  now += 11us;
  p.handle_timeout(now);
  for (int i = 0; i < 10; ++i) EXPECT_NE(t[p.choose_control(kAll)->value].port, deaf);
  p.note_works(probe->slot);
  std::map<int, int> ports;
  for (int i = 0; i < 10; ++i) ++ports[t[p.choose_control(kAll)->value].port.value];
  EXPECT_EQ(ports[deaf.value], 5);
}

TEST_F(PathSetTest, ASuspectCarriesNoDataUntilItAnswers) {
  const auto t = table(1, 4);
  PathSet p(t, {}, 1, quiet);
  ASSERT_TRUE(p.suspect(EvSlot(3), 10us));
  EXPECT_EQ(deal(p, 40).count(3), 0u);
  const auto probe = p.poll_probe(now, kAll, TxOrder(9));
  ASSERT_TRUE(probe);
  EXPECT_EQ(probe->slot, EvSlot(3));
  EXPECT_TRUE(p.on_probe_answer(now, probe->id));
  EXPECT_GT(deal(p, 40)[3], 0);
}

TEST_F(PathSetTest, SilenceCountsOnlyWhenSomethingLaterWasHeard) {
  const auto t = table(1, 4);
  PathSet p(t, {}, 1, quiet);
  ASSERT_TRUE(p.suspect(EvSlot(3), 10us));
  now += 1ms;
  ASSERT_TRUE(p.poll_probe(now, kAll, TxOrder(9)));
  const Time asked = now;
  now += 1ms;
  EXPECT_FALSE(p.poll_silent(now, Ticks(asked - 100us)));
  EXPECT_TRUE(p.in_doubt());
  const auto silent = p.poll_silent(now, Ticks(asked + 100us));
  ASSERT_TRUE(silent);
  EXPECT_EQ(silent->slot, EvSlot(3));
  EXPECT_FALSE(silent->plane) << "one EV was asked; nothing was said about its plane";
}

TEST_F(PathSetTest, AQuietPlaneCarriesNoDataWhileOneOfItsEvsIsAsked) {
  const auto t = table(2, 4);  // even slots leave by port 1
  PathSet p(t, {}, 1, quiet);
  p.note_quiet(PortId(1));
  EXPECT_GT(deal(p, 40)[0], 0) << "nobody is asked yet, so nothing could ever end the doubt";

  ASSERT_TRUE(p.suspect(EvSlot(2), 10us));
  p.note_quiet(PortId(1));
  for (const auto& [slot, n] : deal(p, 40)) EXPECT_EQ(slot % 2, 1);
  EXPECT_TRUE(deal(p, 8, PortMask(1u << 1)).empty())
      << "room on the quiet plane alone is no reason to use it";

  EXPECT_EQ(answer_probes(p), 1);
  p.note_works(EvSlot(2));
  EXPECT_GT(deal(p, 40)[0], 0);
}

TEST_F(PathSetTest, TheLastPlaneIsUsedEvenIfItIsQuiet) {
  const auto t = table(1, 4);
  PathSet p(t, {}, 1, quiet);
  ASSERT_TRUE(p.suspect(EvSlot(0), 10us));
  p.note_quiet(PortId(1));
  EXPECT_FALSE(deal(p, 4).empty());
}

TEST_F(PathSetTest, ASilentPlaneGoesAsAWhole) {
  const auto t = table(2, 4);
  PathSet p(t, {}, 1, quiet);
  ASSERT_TRUE(p.suspect(EvSlot(0), 10us));
  ASSERT_TRUE(p.suspect(EvSlot(2), 10us));
  p.note_quiet(PortId(1));
  while (p.poll_probe(now, kAll, TxOrder(9))) continue;
  now += 1ms;
  const auto silent = p.poll_silent(now, Ticks(now));
  ASSERT_TRUE(silent && silent->plane);
  p.give_up_plane(now, PortId(1));
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(p.state(EvSlot(static_cast<std::uint16_t>(i))),
              i % 2 == 0 ? EvState::assumed_bad : EvState::good);
  }
  EXPECT_FALSE(p.poll_silent(now, Ticks(now))) << "one verdict for all its suspects";
}

// MRC-EV-015
TEST_F(PathSetTest, OfALostPlaneOneEvAtATimeIsAskedAndItsReturnBringsTheOthers) {
  const auto t = table(2, 8);
  PathSet p(t, {}, 1, quiet);
  p.give_up_plane(now, PortId(1));
  std::map<int, int> asked;
  for (int bursts = 0; bursts < 6; ++bursts) {
    std::map<int, int> burst;
    while (const auto probe = p.poll_probe(now, kAll, TxOrder(1))) ++burst[probe->slot.value];
    ASSERT_LE(burst.size(), 1u);
    for (const auto& [slot, probes] : burst) asked[slot] += probes;
    now = p.next_timeout();
    p.handle_timeout(now);
  }
  EXPECT_GT(asked.size(), 1u) << "the one that is asked may be dead alone";
  for (int i = 0; i < 40 && p.rotation().active() < 16; ++i) {
    answer_probes(p);
    now = std::min(p.next_timeout(), now + 1s);
    p.handle_timeout(now);
  }
  EXPECT_EQ(p.rotation().active(), 16);
}

TEST_F(PathSetTest, OfALostPlaneEveryEvIsAskedInTurn) {
  const auto t = table(2, 8);
  PathSet p(t, {}, 1, quiet);
  p.give_up_plane(now, PortId(1));
  const int alive = 14;  // the last of the plane; all others take a dead cable
  for (int i = 0; i < 200 && p.rotation().active() < 9; ++i) {
    while (const auto probe = p.poll_probe(now, kAll, TxOrder(1))) {
      if (probe->slot.value == alive) p.on_probe_answer(now, probe->id);
    }
    now = p.next_timeout();
    p.handle_timeout(now);
  }
  EXPECT_EQ(p.rotation().active(), 9);
  EXPECT_EQ(p.state(EvSlot(alive)), EvState::good);
}

TEST_F(PathSetTest, HoweverManySuspectsWaitThereIsRoomToAskWhetherAnyoneIsThere) {
  const auto t = table(1, 32);
  PathSet p(t, {}, 1, quiet);
  int suspects = 0;
  for (std::uint16_t i = 0; i < 32; ++i) suspects += p.suspect(EvSlot(i), 10us);
  EXPECT_EQ(suspects, static_cast<int>(kSharedProbes));
  p.ask_anyone(now, 10us);
  int probes = 0;
  while (p.poll_probe(now, kAll, TxOrder(1))) ++probes;
  EXPECT_EQ(probes, suspects + 1);
}

TEST_F(PathSetTest, WhetherAnyoneIsThereIsAskedEvenIfNobodyIsSuspected) {
  const auto t = table(1, 4);
  PathSet p(t, {}, 1, quiet);
  EXPECT_FALSE(p.has_probe());
  p.ask_anyone(now, 10us);
  EXPECT_TRUE(p.has_probe());
  EXPECT_TRUE(p.poll_probe(now, kAll, TxOrder(1)));
  EXPECT_FALSE(p.poll_probe(now, kAll, TxOrder(2)));
}

// The way that was known to work last may be the one that died.
TEST_F(PathSetTest, WhoGetsNoAnswerAsksOnAnotherPlane) {
  const auto t = table(4, 8);
  PathSet p(t, {}, 1, quiet);
  p.note_works(EvSlot(5));
  std::set<int> asked;
  for (int i = 0; i < 4; ++i) {
    p.ask_anyone(now, 10us);
    const auto probe = p.poll_probe(now, kAll, TxOrder(1));
    ASSERT_TRUE(probe);
    asked.insert(p.path(probe->slot).port.value);
    now += 20us;
    p.handle_timeout(now);
  }
  EXPECT_EQ(asked.size(), 4u);
}

// MRC-EV-010: one EV per plane. The living one is suspected, because its answers came by the dead one.
TEST_F(PathSetTest, WhoAsksTheOnlyPlaneLeftInVainAsksTheSuspectToo) {
  const auto t = table(2, 1);
  PathSet p(t, {}, 1, quiet);
  ASSERT_TRUE(p.suspect(EvSlot(1), 10us));
  ASSERT_TRUE(p.poll_probe(now, kAll, TxOrder(1)));
  std::set<int> asked;
  for (int i = 0; i < 4; ++i) {
    p.ask_anyone(now, 10us);
    const auto probe = p.poll_probe(now, kAll, TxOrder(1));
    ASSERT_TRUE(probe);
    asked.insert(probe->slot.value);
    now += 1ms;
    p.handle_timeout(now);
  }
  EXPECT_EQ(asked, (std::set<int>{0, 1}));
}

}  // namespace
}  // namespace mrc::engine
