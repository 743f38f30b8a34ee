// Incast: hints, the receiver's port as the bottleneck, shares below one MTU. And the other controllers.
#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>

#include "engine/congestion_profile.h"
#include "engine/constant_window.h"
#include "engine/nscc.h"
#include "engine/nscc_testing.h"

namespace mrc::engine::testing {
namespace {

NsccConfig ours() { return default_nscc(round_link()); }

TEST(Hints, NSendersStartWithTheirShare) {  // MRC-CC-015
  Sender s(ours(), {.remote_recv_peers = 9});
  EXPECT_EQ(s.window(), 25'000u);
  EXPECT_LE(s.cc.next_send(), s.now);
}

TEST(Hints, OneSenderOrNoHintStartsFull) {  // MRC-CC-015
  EXPECT_EQ(Sender(ours(), {.remote_recv_peers = 1}).window(), 225'000u);
  EXPECT_EQ(Sender(ours(), {.qps_per_peer = 8, .send_peers = 100}).window(), 225'000u);
}

TEST(Hints, AShareBelowOneMtuIsPaced) {          // MRC-CC-015 MRC-CC-018
  Sender s(ours(), {.remote_recv_peers = 225});  // 1000 bytes, a quarter of an MTU
  EXPECT_EQ(s.window(), kMtu);
  EXPECT_LE(s.cc.next_send(), s.now) << "the first packet need not wait";
  s.send();
  EXPECT_GE(s.cc.next_send(), s.now + 20us);  // half of four RTTs
  EXPECT_LE(s.cc.next_send(), s.now + 60us);
}

TEST(Hints, AnAbsurdHintStillSends) {  // MRC-CC-018
  Sender s(ours(), {.remote_recv_peers = 0xffffffff});
  EXPECT_TRUE(s.cc.may_send(kMtu));
  s.send();
  EXPECT_LE(s.cc.next_send(), s.now + 64 * 15us);
}

TEST(Pacing, SendersWithOtherSeedsSpreadOut) {  // MRC-CC-018
  std::int64_t least = 1'000'000, most = 0;
  for (std::uint32_t seed = 1; seed <= 64; ++seed) {
    Nscc cc(ours(), {.remote_recv_peers = 225}, seed);
    cc.on_send(Time{}, kMtu);
    const auto gap = cc.next_send().time_since_epoch().count();
    least = std::min(least, gap);
    most = std::max(most, gap);
  }
  EXPECT_LT(least, 25'000);
  EXPECT_GT(most, 55'000);
}

TEST(Pacing, CanBeSwitchedOff) {  // MRC-CC-018
  NsccConfig c = ours();
  c.pace_below_mtu = false;
  Sender s(c, {.remote_recv_peers = 225});
  s.send();
  EXPECT_LE(s.cc.next_send(), s.now);
  EXPECT_EQ(s.cc.share(), kMtu);
}

TEST(Incast, TheWindowBecomesWhatSurvivesTheStorm) {  // MRC-CC-019
  Sender s(ours());
  s.send(40);
  s.wait(10us);
  s.trim(37, true);
  EXPECT_EQ(s.cc.in_flight(), 3 * kMtu);
  EXPECT_EQ(s.window(), 3 * kMtu);
  EXPECT_FALSE(s.cc.may_send(kMtu)) << "a trim makes no room";
}

TEST(Incast, LossesOfAJudgedFlightCostNothingMore) {  // MRC-CC-028
  Sender s(ours());
  s.send(40);
  s.wait(10us);
  s.trim(30, true);
  const double survived = s.cc.share();
  for (int i = 0; i < 10; ++i) s.cc.on_loss(s.now, kMtu);
  EXPECT_EQ(s.cc.in_flight(), 0);
  EXPECT_EQ(s.cc.share(), survived) << "a lossy path is not a full port";
  s.send(9);
  s.sack(2 * kMtu, 5us);
  const double later = s.cc.share();
  s.cc.on_loss(s.now, kMtu);
  EXPECT_LT(s.cc.share(), later) << "this one left afterwards";
}

TEST(Incast, NothingSurvivesLeavesAPacedShare) {  // MRC-CC-019
  Sender s(ours());
  s.send(40);
  s.wait(10us);
  s.trim(40, true);
  EXPECT_LT(s.cc.share(), kMtu);
  EXPECT_GT(s.cc.share(), kMtu / 4);
  EXPECT_GT(s.cc.next_send(), s.now);
}

TEST(Incast, AStormThatBeganInsideTheFabricIsPaidOnce) {  // MRC-CC-019
  Sender s(ours());
  s.send(40);
  s.wait(20us);
  s.trim(10, false);  // quick adapt: nothing was achieved
  s.trim(30, true);
  EXPECT_GT(s.cc.share(), kMtu / 3) << "one storm, not thirty";
}

TEST(Incast, SmallerWindowsSettleAtAHigherDelay) {  // MRC-CC-019
  Sender big(ours(), {.remote_recv_peers = 2}), small(ours(), {.remote_recv_peers = 32});
  const double was_big = big.cc.share(), was_small = small.cc.share();
  for (int i = 0; i < 20; ++i) {
    for (Sender* s : {&big, &small}) {
      while (s->cc.may_send(kMtu)) s->send();
      s->wait(10us);
      s->sack(static_cast<std::uint64_t>(s->cc.in_flight()), 4500ns);
    }
  }
  EXPECT_LT(big.cc.share(), was_big);
  EXPECT_GT(small.cc.share(), was_small);
}

TEST(Incast, AnIdlePortIsFilledAndEndsIt) {  // MRC-CC-019
  Sender s(ours(), {.remote_recv_peers = 100});
  int rounds = 0;
  for (; s.window() < 225'000 && rounds < 20; ++rounds) {
    while (s.cc.may_send(kMtu)) s.send();
    s.wait(100us);
    s.sack(static_cast<std::uint64_t>(s.cc.in_flight()), 0us);
  }
  EXPECT_LE(rounds, 12);
}

TEST(Incast, OneIdlePlaneOfFourIsNoIdlePort) {  // MRC-CC-025
  Sender s(ours(), {.remote_recv_peers = 4});
  const auto rounds = [&](Duration quiet, Duration busy) {
    for (int i = 0; i < 40; ++i) {
      while (s.cc.may_send(kMtu)) s.send();
      s.wait(4us);
      s.sack(static_cast<std::uint64_t>(s.cc.in_flight()) / 4, i % 4 == 0 ? quiet : busy);
    }
  };
  rounds(0us, 6us);
  EXPECT_LT(s.cc.share(), 225'000 / 4) << "three planes are full: who jumped at the fourth would take all";
  rounds(0us, 0us);
  EXPECT_EQ(s.window(), 225'000u) << "all are idle";
}

TEST(Incast, MoreReportsOfTheSameBytesDoNotGrowMore) {  // MRC-CC-025
  Sender often(ours(), {.remote_recv_peers = 9}), seldom(ours(), {.remote_recv_peers = 9});
  for (Sender* s : {&often, &seldom}) {
    while (s->cc.may_send(kMtu)) s->send();
    s->wait(10us);
  }
  often.sack(kMtu, 0us);
  often.sack(kMtu, 0us);
  seldom.sack(2 * kMtu, 0us);
  EXPECT_NEAR(often.cc.share(), seldom.cc.share(), 1.0);
  EXPECT_GT(often.cc.share(), 30'000);
}

TEST(Incast, ATrimmedPacketTellsANearSenderHowNearItIs) {  // MRC-CC-026
  Sender s(ours());
  s.send(40);
  s.wait(6us);
  s.cc.on_unqueued(6us);
  s.trim(1, true);
  EXPECT_EQ(s.cc.base_rtt(), 6us);
  s.cc.on_unqueued(9us);
  EXPECT_EQ(s.cc.base_rtt(), 6us) << "headers queue too";
}

TEST(Incast, AWindowOfJustBelowTwoPacketsStillGrows) {  // MRC-CC-019
  Sender s(ours(), {.remote_recv_peers = 29});          // 7758 bytes hold one packet of 4000
  for (int i = 0; i < 20; ++i) {
    s.send();
    s.wait(10us);
    s.sack(kMtu, 0us);
  }
  EXPECT_GT(s.window(), 2 * kMtu) << "one packet is all that fits, so the window is used";
}

TEST(Incast, AnUnusedWindowDoesNotGrow) {  // MRC-CC-019
  Sender s(ours(), {.remote_recv_peers = 9});
  for (int i = 0; i < 50; ++i) {
    s.send();
    s.wait(10us);
    s.sack(kMtu, 0us);
  }
  EXPECT_EQ(s.window(), 25'000u);
}

TEST(Profile, NamesChooseTheAlgorithm) {  // MRC-CC-021
  EXPECT_EQ(cc_algorithm("uet-1.0-nscc"), CcAlgorithm::nscc);
  EXPECT_EQ(cc_algorithm("constant"), CcAlgorithm::constant);
  EXPECT_EQ(cc_algorithm(nullptr), CcAlgorithm::off);
  EXPECT_EQ(cc_algorithm("cubic"), std::nullopt);
  EXPECT_EQ(cc_algorithm(""), std::nullopt);
  for (auto a : {CcAlgorithm::off, CcAlgorithm::nscc, CcAlgorithm::constant})
    EXPECT_EQ(cc_algorithm(cc_name(a)), a);
}

TEST(Profile, MakesEachController) {  // MRC-CC-021
  CcProfile p = CcProfile::defaults(round_link());
  EXPECT_EQ((*make_congestion(p))->window(), 225'000u);
  p.algorithm = CcAlgorithm::constant;
  p.nscc.max_cwnd = 10'000;
  EXPECT_EQ((*make_congestion(p))->window(), 10'000u);
  p.algorithm = CcAlgorithm::off;
  EXPECT_TRUE((*make_congestion(p))->may_send(kMtu));
}

TEST(Profile, NonsenseIsRefusedWithTheFieldAtFault) {
  const auto refuse = [](auto spoil, const char* field) {
    CcProfile p = CcProfile::defaults(round_link());
    spoil(p.nscc);
    const auto made = make_congestion(p);
    ASSERT_FALSE(made) << field;
    EXPECT_EQ(made.error().code, EINVAL);
    EXPECT_NE(made.error().what.find(field), std::string::npos) << made.error().what;
  };
  refuse([](NsccConfig& c) { c.base_rtt = 0; }, "base_rtt");
  refuse([](NsccConfig& c) { c.target_delay = 0; }, "target_delay");
  refuse([](NsccConfig& c) { c.max_cwnd = 0; }, "max_cwnd");
  refuse([](NsccConfig& c) { c.qa_gate = 40; }, "qa_gate");
  refuse([](NsccConfig& c) { c.gamma = std::nanf(""); }, "gamma");
  refuse([](NsccConfig& c) { c.max_md_jump = -1; }, "max_md_jump");
  refuse([](NsccConfig& c) { c.eta = INFINITY; }, "eta");
  refuse([](NsccConfig& c) { c.fi = -1; }, "fi");
  refuse([](NsccConfig& c) { c.fi_scale = 1e9f; }, "fi_scale");
  refuse([](NsccConfig& c) { c.mtu = 0; }, "mtu");
  refuse([](NsccConfig& c) { c.min_share = 0; }, "min_share");
  refuse([](NsccConfig& c) { c.incast_fast = 0; }, "incast_fast");
}

TEST(ConstantWindow, NeverMoves) {
  ConstantWindow cc(10'000);
  cc.on_send(Time{}, kMtu);
  cc.on_send(Time{}, kMtu);
  EXPECT_FALSE(cc.may_send(kMtu));
  cc.on_trim(Time{}, kMtu, true);
  EXPECT_TRUE(cc.may_send(kMtu));
  cc.on_sack(Time{}, {.newly = kMtu, .ecn = true, .penalty = 127});
  cc.on_send(Time{}, kMtu);
  cc.on_loss(Time{}, kMtu);
  EXPECT_EQ(cc.in_flight(), 0);
  EXPECT_EQ(cc.window(), 10'000u);
}

TEST(ConstantWindow, OneBelowAPacketStillSends) {
  ConstantWindow cc(100);
  EXPECT_TRUE(cc.may_send(kMtu));
  cc.on_send(Time{}, kMtu);
  EXPECT_FALSE(cc.may_send(kMtu));
}

TEST(NoCongestionControl, CountsTheFlightAndNeverStops) {
  NoCongestionControl cc;
  for (int i = 0; i < 100'000; ++i) cc.on_send(Time{}, kMtu);
  EXPECT_EQ(cc.in_flight(), 100'000LL * kMtu);
  EXPECT_TRUE(cc.may_send(kMtu));
  cc.on_sack(Time{}, {.newly = 200'000ull * kMtu});
  cc.on_settled(Time{}, -100'000LL * kMtu);
  EXPECT_EQ(cc.in_flight(), 0);
}

// MRC-CC-013: what was taken for lost and arrived all the same has left flight twice.
TEST(Incast, ATrimIsAtLeastItsOwnFlight) {
  for (const bool last_hop : {false, true}) {
    Sender s(ours());
    s.send(20);
    for (int i = 0; i < 10; ++i) s.cc.on_loss(s.now, kMtu);
    s.sack(19 * kMtu, 1us);
    s.send();
    ASSERT_LE(s.cc.in_flight(), 0);
    s.trim(1, last_hop);
    EXPECT_GE(s.cc.share(), kMtu / 2) << "last hop " << last_hop;
  }
}

}  // namespace
}  // namespace mrc::engine::testing
