// What interrupts the quadrants: quick adapt, trims, losses, penalty and restore.
#include <gtest/gtest.h>

#include "engine/nscc.h"
#include "engine/nscc_testing.h"

namespace mrc::engine::testing {
namespace {

/// A full window is out, `arrived` packets of it are reported in the first period (17.5 us), the rest is
/// still out.
Sender after_period(const NsccConfig& c, int arrived) {
  Sender s(c);
  s.send(56);
  s.wait(17us);
  if (arrived > 0) s.sack(static_cast<std::uint64_t>(arrived) * kMtu, 7us);
  s.wait(500ns);
  return s;
}

TEST(QuickAdapt, ATrimMakesTheWindowWhatWasAchieved) {  // MRC-CC-012
  Sender s = after_period(published(), 6);
  s.trim();
  EXPECT_EQ(s.window(), 6 * kMtu);
}

TEST(QuickAdapt, NothingAchievedLeavesOneMtu) {  // MRC-CC-012
  Sender s = after_period(published(), 0);
  s.trim();
  EXPECT_EQ(s.window(), kMtu);
}

TEST(QuickAdapt, NotBeforeThePeriodIsOver) {  // MRC-CC-012
  Sender s(published());
  s.send(56);
  s.wait(17us);
  s.trim();
  EXPECT_EQ(s.window(), 225'000u - kMtu) << "the trim costs its size, no more";
}

TEST(QuickAdapt, AtMostOncePerPeriod) {  // MRC-CC-012
  Sender s = after_period(published(), 6);
  s.trim();
  s.trim();
  EXPECT_EQ(s.window(), 5 * kMtu) << "the second trim only costs its size";
}

TEST(QuickAdapt, NotWhenEnoughWasAchieved) {  // MRC-CC-012
  Sender s = after_period(published(), 8);    // 32,000 is above 225,000 >> 3
  s.trim();
  EXPECT_GT(s.window(), 200'000u);
}

TEST(QuickAdapt, CanBeDisabled) {  // MRC-CC-012
  NsccConfig c = published();
  c.disable_qa = true;
  Sender s = after_period(c, 6);
  s.trim();
  EXPECT_GT(s.window(), 200'000u);
}

TEST(QuickAdapt, DelayAloneTriggersItOnlyAboveItsThreshold) {  // MRC-CC-012
  NsccConfig c = published();
  c.qa_threshold = 30'000;
  Sender calm = after_period(c, 6), late = after_period(c, 6);
  calm.sack(0, 30us);
  late.sack(0, 31us);
  EXPECT_GT(calm.window(), 200'000u);
  EXPECT_EQ(late.window(), 6 * kMtu);
}

TEST(QuickAdapt, MarksOfTheFlightOfBeforeAreIgnored) {  // MRC-CC-012
  Sender s = after_period(published(), 6);
  s.trim();  // 49 packets are still out
  s.wait(10us);
  s.sack(40 * kMtu, 30us, true);
  EXPECT_GE(s.window(), 6 * kMtu);
  s.sack(9 * kMtu, 30us, true);
  const auto judged = s.window();
  s.wait(10us);
  s.sack(4 * kMtu, 30us, true);
  EXPECT_LT(s.window(), judged) << "what was sent later counts";
}

TEST(QuickAdapt, CoversTheFlightItJudged) {
  NsccConfig c = published();
  c.qa_covers_flight = true;
  Sender s = after_period(c, 6);
  s.trim(50);  // the first adapts; 49 were out at that moment
  EXPECT_EQ(s.window(), 6 * kMtu);
  s.trim();
  EXPECT_EQ(s.window(), 5 * kMtu);
}

TEST(QuickAdapt, AnIdleSenderStartsANewPeriod) {
  Sender s(published());
  s.send(1);
  s.sack(kMtu, 0us);
  s.wait(1s);
  s.send(56);
  s.wait(10us);
  s.trim();
  EXPECT_GT(s.window(), 200'000u) << "the second of silence is no period in which nothing was achieved";
}

TEST(Trim, LeavesFlightAndCostsItsSize) {  // MRC-CC-013
  Sender s;
  s.send(10);
  s.trim(2);
  EXPECT_EQ(s.cc.in_flight(), 8 * kMtu);
  EXPECT_EQ(s.window(), 225'000u - 2 * kMtu);
}

TEST(Loss, LeavesFlightAndCostsItsSizeWithoutQuickAdapt) {  // MRC-CC-014
  Sender s = after_period(published(), 6);
  s.cc.on_loss(s.now, kMtu);
  EXPECT_EQ(s.cc.in_flight(), 49 * kMtu);
  EXPECT_GT(s.window(), 200'000u);
}

TEST(Loss, WithoutTrimmingItTriggersQuickAdapt) {  // MRC-CC-014
  NsccConfig c = published();
  c.qa_on_loss = true;
  Sender s = after_period(c, 6);
  s.cc.on_loss(s.now, kMtu);
  EXPECT_EQ(s.window(), 6 * kMtu);
}

/// One RTT in which the receiver asks with `pen` in every SACK, while the sender keeps its window full.
void penalised_round(Sender& s, std::uint8_t pen) {
  const std::uint64_t round = s.window() / kMtu;
  while (s.cc.may_send(kMtu)) s.send();
  for (std::uint64_t i = 0; i < round; ++i) {
    s.penalty(kMtu, pen);
    while (s.cc.may_send(kMtu)) s.send();
  }
}

TEST(Penalty, SixtyFourForOneRttHalves) {  // MRC-CC-016
  Sender s;
  penalised_round(s, 64);
  EXPECT_NEAR(static_cast<double>(s.window()), 112'500, 4 * kMtu);
}

TEST(Penalty, TakesAnUnusedWindowToTheFlight) {  // MRC-CC-016
  Sender s;
  s.send(10);
  s.penalty(kMtu, 1);
  EXPECT_EQ(s.window(), 11 * kMtu - (kMtu >> 7));
}

TEST(Penalty, NeverGoesBelowOneMtuAndNeverGrows) {  // MRC-CC-016
  Sender s;
  for (int i = 0; i < 30; ++i) {
    const auto before = s.window();
    penalised_round(s, 127);
    EXPECT_LE(s.window(), before);
  }
  EXPECT_EQ(s.window(), kMtu);
}

TEST(Penalty, RestorePutsTheWindowOfBeforeBack) {  // MRC-CC-017
  Sender s;
  s.send(5);
  s.trim(5);
  const auto before = s.window();
  penalised_round(s, 64);
  penalised_round(s, 64);
  ASSERT_LT(s.window(), before / 2);
  s.restore();
  EXPECT_NEAR(static_cast<double>(s.window()), static_cast<double>(before), 601) << "and eta, of that SACK";
  s.trim(5);
  s.restore();
  EXPECT_LT(s.window(), before - 4 * kMtu) << "remembered once, given back once";
}

/// Most of a first window was trimmed at the receiver's port: what is left is spaced out.
Sender in_an_incast() {
  Sender s(default_nscc(round_link()));
  s.send(56);
  s.trim(50, true);
  s.sack(6 * kMtu, 7us);
  return s;
}

TEST(Restore, InAnIncastWhatIsLeftMayLeaveAtOnce) {  // MRC-CC-030
  Sender s = in_an_incast();
  const auto share = s.window();
  ASSERT_LT(share, 10 * kMtu);
  s.send();
  ASSERT_GT(s.cc.next_send(), s.now);
  s.restore(20 * kMtu);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(s.cc.may_send(kMtu)) << i;
    ASSERT_LE(s.cc.next_send(), s.now) << i;
    s.send();
  }
  EXPECT_FALSE(s.cc.may_send(kMtu)) << "what is posted now, the receiver has not reckoned with";
  EXPECT_EQ(s.window(), share);
}

TEST(Restore, WhatWasLentAndNotUsedEndsWithTheFlight) {  // MRC-CC-030
  Sender s = in_an_incast();
  s.send(2);
  s.restore(20 * kMtu);
  s.restore(0);
  s.sack(kMtu, 7us);
  EXPECT_EQ(s.window(), s.cc.max_window()) << "other QPs of this destination have their own reports";
  s.sack(kMtu, 7us);
  EXPECT_LT(s.window(), 10 * kMtu);
}

TEST(Restore, LendsNoMoreThanTheMaximum) {  // MRC-CC-030
  Sender s = in_an_incast();
  s.restore(1000 * kMtu);
  EXPECT_EQ(s.window(), s.cc.max_window());
}

TEST(Restore, LendsNothingWhereAnotherQueueIsTheBottleneck) {  // MRC-CC-030
  Sender s(default_nscc(round_link()));
  s.send(56);
  s.shrink_to(8 * kMtu);
  const auto before = s.window();
  s.restore(100 * kMtu);
  EXPECT_LT(s.window(), before + 2 * kMtu) << "what a SACK without delay brings, and no more";
}

}  // namespace
}  // namespace mrc::engine::testing
