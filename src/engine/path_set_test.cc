// Paths one by one: each state, each transition, each turn.
#include "engine/path_set.h"

#include <gtest/gtest.h>

#include <map>

namespace mrc::engine {
namespace {

constexpr PortMask kAll = PortMask(~0u);

class PathSetTest : public testing::Test {
 protected:
  static std::vector<Path> table(int ports, int per_port) {
    std::vector<Path> t;
    for (int i = 0; i < ports * per_port; ++i) {
      t.push_back({Ev(static_cast<std::uint32_t>(i + 1)), PortId(static_cast<std::uint8_t>(i % ports + 1))});
    }
    return t;
  }
  std::map<int, int> deal(PathSet& p, int packets, PortMask room = kAll) {
    std::map<int, int> by_slot;
    for (int i = 0; i < packets; ++i) {
      if (const auto s = p.choose(now, room)) ++by_slot[s->value];
    }
    return by_slot;
  }
  /// Lets the set send every probe that is due, and answers each.
  int answer_probes(PathSet& p) {
    int n = 0;
    while (const auto probe = p.poll_probe(now, kAll, TxOrder(1))) {
      p.on_probe_answer(now, probe->id);
      ++n;
    }
    return n;
  }
  Time now{};
  Narrator quiet{nullptr, Qpn(1)};
};

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

// MRC-EV-010
TEST_F(PathSetTest, AnswersLeaveByThePlanesThatPacketsComeFrom) {
  const auto t = table(4, 2);
  PathSet p(t, {}, 1, quiet);
  for (int i = 0; i < 128; ++i) p.note_arrival(PortId(static_cast<std::uint8_t>(1 + i % 2)));
  for (int i = 0; i < 16; ++i) EXPECT_LE(p.path(*p.choose_control(kAll)).port.value, 2);
  EXPECT_FALSE(p.choose_control(PortMask(1u << 3))) << "a plane gone quiet is not used because it has room";
}

// MRC-EV-010
TEST_F(PathSetTest, PacketsByAPortThatIsNoPlaneOfThisQpDoNotDirectItsAnswers) {
  const auto t = table(1, 2);
  PathSet p(t, {}, 1, quiet);
  p.note_arrival(PortId(2));
  p.set_port(now, PortId(3), true);
  ASSERT_TRUE(p.choose_control(kAll));
  EXPECT_EQ(p.path(*p.choose_control(kAll)).port, PortId(1));
}

// MRC-EV-010
TEST_F(PathSetTest, AnswersLeaveEvenIfNoPlaneAnswered) {
  const auto t = table(2, 2);
  PathSet p(t, {}, 1, quiet);
  for (int i = 0; i < 2; ++i) {
    p.ask_reverse(10us);
    ASSERT_TRUE(p.poll_probe(now, kAll, TxOrder(1)));
    now += 1ms;
    p.handle_timeout(now);
  }
  EXPECT_TRUE(p.choose_control(kAll));
}

}  // namespace
}  // namespace mrc::engine
