// Choosing a path: rotation, states, planes, and where answers leave.
#include "engine/path_set_testing.h"

namespace mrc::engine {
namespace {

// MRC-EV-001
TEST_F(PathSetTest, EachRotationUsesEachEvOnceAndInAnotherOrder) {
  const auto t = table(2, 8);
  PathSet p(t, {}, 1, quiet);
  std::vector<int> first, second;
  for (int i = 0; i < 16; ++i) first.push_back(p.choose(now, kAll)->value);
  for (int i = 0; i < 16; ++i) second.push_back(p.choose(now, kAll)->value);
  EXPECT_NE(first, second);
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  EXPECT_EQ(first, second);
  EXPECT_EQ(std::adjacent_find(first.begin(), first.end()), first.end());
}

// MRC-EV-001
TEST_F(PathSetTest, OnlyPortsWithRoomAreUsed) {
  const auto t = table(4, 4);
  PathSet p(t, {}, 1, quiet);
  for (const auto& [slot, n] : deal(p, 40, PortMask(1u << 3)))
    EXPECT_EQ(t[static_cast<std::size_t>(slot)].port, PortId(3));
  EXPECT_FALSE(p.choose(now, PortMask()));
}

TEST_F(PathSetTest, ASprayUnitStaysOnItsEv) {
  const auto t = table(1, 8);
  PathSet p(t, {.spray_unit = 4}, 1, quiet);
  for (int unit = 0; unit < 8; ++unit) {
    const auto s = p.choose(now, kAll);
    for (int i = 1; i < 4; ++i) EXPECT_EQ(p.choose(now, kAll), s);
  }
}

// MRC-EV-001
TEST_F(PathSetTest, ShortPacketsShareASprayUnitByTheirLength) {
  const auto t = table(1, 8);
  PathSet p(t, {.spray_unit = 4}, 1, quiet);
  const auto choose = [&](int eighths) { return p.choose(now, kAll, {}, {}, eighths); };
  const auto first = choose(1);
  for (int i = 1; i < 4 * kFullPacket; ++i) EXPECT_EQ(choose(1), first);
  EXPECT_EQ(p.next_unit(1), 4);
  const auto second = choose(kFullPacket);
  EXPECT_NE(second, first);
  for (int i = 1; i < 6; ++i) EXPECT_EQ(choose(4), second);
  EXPECT_EQ(p.next_unit(4), 0);
  EXPECT_EQ(p.next_unit(kFullPacket), 4);  // it does not fit into what is left

  PathSet conformant(t, {.spray_unit = 1}, 1, quiet);
  const auto one = conformant.choose(now, kAll, {}, {}, 1);
  EXPECT_NE(conformant.choose(now, kAll, {}, {}, 1), one);
}

// MRC-EV-002, MRC-EV-003
TEST_F(PathSetTest, ASkippedEvMissesOneTurn) {
  const auto t = table(1, 4);
  PathSet p(t, {}, 1, quiet);
  p.note_skip(now, EvSlot(2), PathCause::ecn);
  EXPECT_EQ(p.state(EvSlot(2)), EvState::skip);
  EXPECT_EQ(deal(p, 3).count(2), 0u);
  EXPECT_EQ(p.state(EvSlot(2)), EvState::good);
}

// MRC-EV-003
TEST_F(PathSetTest, WhenAllAreSkippedOnlyOneIsPassedOverPerPacket) {
  const auto t = table(1, 4);
  PathSet p(t, {}, 1, quiet);
  for (std::uint16_t i = 0; i < 4; ++i) p.note_skip(now, EvSlot(i), PathCause::trim);
  ASSERT_TRUE(p.choose(now, kAll));
  int still = 0;
  for (std::uint16_t i = 0; i < 4; ++i) still += p.state(EvSlot(i)) == EvState::skip;
  EXPECT_EQ(still, 3);
}

// MRC-EV-004, MRC-EV-005
TEST_F(PathSetTest, ABadEvIsReplacedFromItsOwnPlane) {
  const auto t = table(2, 4);
  PathSet p(t, {.active_per_plane = 2}, 1, quiet);
  const auto run = p.rotation().in_rotation(0);
  const EvSlot victim(run[0]);
  p.note_bad(now, victim, PathCause::loss);
  EXPECT_EQ(p.state(victim), EvState::assumed_bad);
  EXPECT_EQ(p.rotation().active_in(0), 2);
  EXPECT_EQ(p.rotation().active_in(1), 2);
  EXPECT_FALSE(p.rotation().contains(victim));
}

// MRC-EV-006
TEST_F(PathSetTest, TheLastOnesStay) {
  const auto t = table(1, 4);
  PathSet p(t, {.min_active = 3}, 1, quiet);
  p.note_bad(now, EvSlot(0), PathCause::loss);
  p.note_bad(now, EvSlot(1), PathCause::loss);
  EXPECT_EQ(p.state(EvSlot(1)), EvState::good);
  EXPECT_EQ(p.rotation().active(), 3);
}

// MRC-EV-009
TEST_F(PathSetTest, DeniedIsTheControllersWordAlone) {
  const auto t = table(1, 4);
  PathSet p(t, {}, 1, quiet);
  EXPECT_TRUE(p.set_state(now, EvSlot(2), EvState::denied));
  EXPECT_EQ(deal(p, 100).count(2), 0u);
  p.note_bad(now, EvSlot(2), PathCause::loss);
  answer_probes(p);
  EXPECT_EQ(p.state(EvSlot(2)), EvState::denied);
  EXPECT_TRUE(p.set_state(now, EvSlot(2), EvState::good));
  EXPECT_GT(deal(p, 100)[2], 0);
  EXPECT_FALSE(p.set_state(now, EvSlot(9), EvState::denied));
}

// MRC-EV-010
TEST_F(PathSetTest, ControlTakesEveryPlaneInTurnOnItsOwnEv) {
  const auto t = table(4, 8);
  PathSet p(t, {}, 1, quiet);
  p.note_works(EvSlot(5));  // port 2
  std::map<int, int> ports;
  for (int i = 0; i < 40; ++i) {
    const auto s = p.choose_control(kAll);
    ++ports[t[s->value].port.value];
    if (t[s->value].port == PortId(2)) {
      EXPECT_EQ(*s, EvSlot(5));
    }
  }
  for (int port = 1; port <= 4; ++port) EXPECT_EQ(ports[port], 10);
}

TEST_F(PathSetTest, ControlThatLeavesTogetherGoesTheSameWayUnlessThatIsFull) {
  const auto t = table(4, 8);
  PathSet p(t, {}, 1, quiet);
  const EvSlot first = *p.choose_control(kAll);
  EXPECT_EQ(p.choose_control(kAll, true), first);
  PortMask others = kAll;
  others.remove(t[first.value].port);
  EXPECT_NE(t[p.choose_control(others, true)->value].port, t[first.value].port);
}

// MRC-EV-019
TEST_F(PathSetTest, AnswersFollowWhatTheyAnswerWhereTheyAreToldTo) {
  const auto t = table(2, 8);
  PathSet keeps(t, {}, 1, quiet), follows(t, {.answers_follow = true}, 1, quiet);
  std::map<int, int> kept;
  for (int i = 0; i < 16; ++i) {
    ++kept[keeps.choose_control(kAll, false, t[static_cast<std::size_t>(i)].ev)->value];
    EXPECT_EQ(follows.choose_control(kAll, false, t[static_cast<std::size_t>(i)].ev),
              EvSlot(static_cast<std::uint16_t>(i)));
  }
  EXPECT_EQ(kept.size(), 2u) << "one EV per plane";
  EXPECT_EQ(follows.choose_control(kAll, true, t[3].ev), EvSlot(15)) << "what leaves together stays together";
}

// MRC-EV-019: only by an EV of ours that is in service, on a plane that answers may take.
TEST_F(PathSetTest, AnswersDoNotFollowIntoNowhere) {
  const auto t = table(2, 8);
  PathSet p(t, {.answers_follow = true}, 1, quiet);
  EXPECT_TRUE(p.choose_control(kAll, false, Ev(99))) << "no EV of ours";
  p.note_bad(now, EvSlot(4), PathCause::loss);
  ASSERT_TRUE(p.suspect(EvSlot(6), 10us));
  ASSERT_TRUE(p.set_state(now, EvSlot(8), EvState::denied));
  for (const int i : {4, 6, 8}) {
    const auto s = p.choose_control(kAll, false, t[static_cast<std::size_t>(i)].ev);
    ASSERT_TRUE(s);
    EXPECT_NE(s->value, i);
  }
  const PortMask second(1u << 2);
  EXPECT_EQ(p.path(*p.choose_control(second, false, t[0].ev)).port, PortId(2));
}

// MRC-EV-019: packets come by it, answers do not get back: else every n-th answer would be lost for ever.
TEST_F(PathSetTest, AnEvThatAnswersFollowIntoSilenceIsSuspected) {
  const auto t = table(1, 8);
  for (const bool follows : {false, true}) {
    PathSet p(t, {.answers_follow = follows}, 1, quiet);
    const EvSlot s = *p.choose_control(kAll, false, t[5].ev);
    ask_in_vain(p);
    EXPECT_EQ(p.is_suspect(s), follows);
  }
}

// MRC-EV-012
TEST_F(PathSetTest, APortThatGoesDownTakesItsPlaneAlong) {
  const auto t = table(2, 8);
  PathSet p(t, {}, 1, quiet);
  const auto uses = [&](PortId port) {
    for (const auto& [slot, n] : deal(p, 64)) {
      if (t[static_cast<std::size_t>(slot)].port == port) return true;
    }
    return false;
  };
  p.set_port(now, PortId(1), false);
  EXPECT_FALSE(uses(PortId(1)));
  p.set_port(now, PortId(1), true);
  EXPECT_TRUE(uses(PortId(1)));
  p.set_peer_ports(now, PortMask(1u << 1));
  EXPECT_FALSE(uses(PortId(2)));
}

// MRC-EV-010
TEST_F(PathSetTest, AnswersLeaveByThePlanesThatPacketsComeFrom) {
  const auto t = table(4, 2);
  PathSet p(t, {}, 1, quiet);
  for (int i = 0; i < 128; ++i) p.note_arrival(Time{}, PortId(static_cast<std::uint8_t>(1 + i % 2)));
  for (int i = 0; i < 16; ++i) EXPECT_LE(p.path(*p.choose_control(kAll)).port.value, 2);
  EXPECT_FALSE(p.choose_control(PortMask(1u << 3))) << "a plane gone quiet is not used because it has room";
}

// MRC-EV-010: a trickle would take long to become as many packets as make a plane forgotten.
TEST_F(PathSetTest, WhatCameBeforeAPauseDoesNotDirectAnswers) {
  const auto t = table(2, 2);
  PathSet p(t, {}, 1, quiet);
  for (int i = 0; i < 10; ++i) p.note_arrival(now, PortId(static_cast<std::uint8_t>(1 + i % 2)));
  for (int ms = 1; ms <= 2; ++ms) p.note_arrival(now + ms * 1ms, PortId(2));
  for (int i = 0; i < 16; ++i) EXPECT_EQ(p.path(*p.choose_control(kAll)).port, PortId(2));
}

// MRC-EV-010
TEST_F(PathSetTest, PacketsByAPortThatIsNoPlaneOfThisQpDoNotDirectItsAnswers) {
  const auto t = table(1, 2);
  PathSet p(t, {}, 1, quiet);
  p.note_arrival(Time{}, PortId(2));
  p.set_port(now, PortId(3), true);
  ASSERT_TRUE(p.choose_control(kAll));
  EXPECT_EQ(p.path(*p.choose_control(kAll)).port, PortId(1));
}

// MRC-EV-010
TEST_F(PathSetTest, AnswersLeaveEvenIfNoPlaneAnswered) {
  const auto t = table(2, 2);
  PathSet p(t, {}, 1, quiet);
  for (int plane = 0; plane < 2; ++plane) ask_in_vain(p);
  EXPECT_TRUE(p.choose_control(kAll));
}

// MRC-EV-010: a plane that packets come by is the better guess, but its way back may be the dead one.
TEST_F(PathSetTest, WhereNothingIsHeardMostAnswersLeaveByThePlaneThatPacketsComeFrom) {
  const auto t = table(2, 1);
  PathSet p(t, {}, 1, quiet);
  for (int plane = 0; plane < 2; ++plane) ask_in_vain(p);
  for (int ms = 0; ms < 2; ++ms) p.note_arrival(now + ms * 1ms, PortId(2));
  ASSERT_TRUE(p.is_torn());
  std::map<int, int> by_port;
  for (int i = 0; i < 1000; ++i) ++by_port[p.path(*p.choose_control(kAll)).port.value];
  EXPECT_GT(by_port[2], 700);
  EXPECT_GT(by_port[1], 100);
}

// MRC-EV-011: what one question found may be the fault of another plane, so it is asked again.
TEST_F(PathSetTest, APlaneThatIsThoughtDeafMakesAnswersDoubtful) {
  const auto t = table(2, 1);
  PathSet p(t, {}, 1, quiet);
  for (int port = 1; port <= 2; ++port) p.note_arrival(now, PortId(static_cast<std::uint8_t>(port)));
  EXPECT_FALSE(p.doubts_answers());
  p.ask_reverse(10us);
  const auto probe = p.poll_probe(now, kAll, TxOrder(1));
  ASSERT_TRUE(probe);
  p.handle_timeout(now + 1ms);
  EXPECT_FALSE(p.is_torn()) << "the other one is heard";
  EXPECT_TRUE(p.doubts_answers());
  p.note_works(probe->slot);
  EXPECT_FALSE(p.doubts_answers());
}

// MRC-EV-013
TEST_F(PathSetTest, AnEvThatOwesItsFirstAnswerIsPassedOverWhenLaterPacketsOfOthersWereAnswered) {
  const auto t = table(1, 4);
  PathSet p(t, {}, 1, quiet);
  for (std::uint16_t i = 0; i < 4; ++i) p.note_sent(now + i * 1us, EvSlot(i));
  EXPECT_EQ(deal(p, 8).size(), 4u) << "without evidence all take their turns";
  for (std::uint16_t i = 0; i < 4; ++i) {
    if (i != 2) p.note_works(EvSlot(i));
  }
  const auto used = [&] {
    std::map<int, int> n;
    for (int i = 0; i < 40; ++i) ++n[p.choose(now, kAll, {}, PathSet::Heard{Ticks(now + 3us), 1s})->value];
    return n;
  };
  EXPECT_EQ(used().count(2), 0u);
  p.note_works(EvSlot(2));
  EXPECT_GT(used().count(2), 0u) << "a late answer is an answer";
}

// MRC-EV-013
TEST_F(PathSetTest, WhenAllOweAnAnswerTheRateDoesNotSuffer) {
  const auto t = table(2, 64);
  PathSet p(t, {}, 1, quiet);
  for (int i = 0; i < 128; ++i) p.note_sent(now, *p.choose(now, kAll));
  std::map<int, int> used;
  for (int i = 0; i < 256; ++i) ++used[p.choose(now, kAll, {}, PathSet::Heard{Ticks(now + 1us), 1s})->value];
  EXPECT_GE(used.size(), 64u) << "they take turns again";
}

// MRC-EV-013
TEST_F(PathSetTest, ATrimIsAnAnswerAndALossEndsTheTrial) {
  const auto t = table(1, 4);
  PathSet p(t, {.min_active = 4}, 1, quiet);
  for (std::uint16_t i = 0; i < 4; ++i) p.note_sent(now, EvSlot(i));
  p.note_skip(now, EvSlot(0), PathCause::trim);
  p.note_works(EvSlot(1));
  p.note_bad(now, EvSlot(2), PathCause::silence);  // stays in use: there are no more than min_active
  std::map<int, int> used;
  for (int i = 0; i < 60; ++i) ++used[p.choose(now, kAll, {}, PathSet::Heard{Ticks(now + 1us), 1s})->value];
  EXPECT_GT(used.count(0), 0u);
  EXPECT_GT(used.count(2), 0u);
  EXPECT_EQ(used.count(3), 0u);
}

}  // namespace
}  // namespace mrc::engine
