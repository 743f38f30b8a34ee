// The published algorithm in the steady state: defaults, counting, four quadrants, bounds.
#include "engine/nscc.h"

#include <gtest/gtest.h>

#include "engine/nscc_testing.h"

namespace mrc::engine::testing {
namespace {

TEST(NsccDefaults, ScaleWithTheLink) {  // MRC-CC-001
  const NsccConfig c = default_nscc(round_link());
  EXPECT_EQ(c.target_delay, 7500u);
  EXPECT_EQ(c.max_cwnd, 225'000u);
  EXPECT_FLOAT_EQ(c.fi, 5 * kMtu);
  EXPECT_FLOAT_EQ(c.fi_scale, 0.25f);
  EXPECT_FLOAT_EQ(c.eta, 0.15f * kMtu);
  EXPECT_FLOAT_EQ(c.proportional, 4 * kMtu * 0.625f);  // b = 7.5 / 12
  EXPECT_EQ(c.adjust_bytes_threshold, 8 * kMtu);
  EXPECT_EQ(c.adjust_period_threshold, 10'000u);
  EXPECT_EQ(c.qa_threshold, 0u);
  EXPECT_FLOAT_EQ(c.gamma, 0.8f);
  EXPECT_FLOAT_EQ(c.max_md_jump, 0.5f);
  EXPECT_EQ(c.qa_gate, 3);
}

TEST(NsccDefaults, WithoutTrimmingDelayAndLossSpeak) {  // MRC-CC-001
  LinkFacts link = round_link();
  link.trimming = false;
  const NsccConfig c = default_nscc(link);
  EXPECT_EQ(c.target_delay, 10'000u);
  EXPECT_EQ(c.qa_threshold, 40'000u);
  EXPECT_TRUE(c.qa_on_loss);
}

TEST(NsccDefaults, TwiceTheBdpDoublesTheSteps) {  // MRC-CC-001
  LinkFacts link = round_link();
  link.bits_per_second *= 2;
  EXPECT_FLOAT_EQ(default_nscc(link).fi, 10 * kMtu);
  EXPECT_FLOAT_EQ(default_nscc(link).fi_scale, 0.5f);
  EXPECT_EQ(default_nscc(link).max_cwnd, 450'000u);
}

TEST(NsccDefaults, AProfileWithoutOurFieldsIsCompletedToTheSame) {
  NsccConfig c = default_nscc(round_link());
  const float proportional = c.proportional;
  c.proportional = 0;
  complete_nscc(c, kMtu);
  EXPECT_FLOAT_EQ(c.proportional, proportional);
}

TEST(Nscc, StartsWithTheMaximumWindow) {
  Sender s;
  EXPECT_EQ(s.window(), 225'000u);
  EXPECT_EQ(s.cc.in_flight(), 0);
  EXPECT_TRUE(s.cc.may_send(kMtu));
  EXPECT_LE(s.cc.next_send(), s.now);
}

TEST(Nscc, ReportedBytesLeaveFlight) {  // MRC-CC-002
  Sender s;
  s.send(3);
  EXPECT_EQ(s.cc.in_flight(), 3 * kMtu);
  s.sack(2 * kMtu, 0us);
  EXPECT_EQ(s.cc.in_flight(), kMtu);
  s.sack(kMtu + 255, 0us);  // rounded up by the peer: the flight is signed
  EXPECT_EQ(s.cc.in_flight(), -255);
  s.cc.on_settled(s.now, -255);
  EXPECT_EQ(s.cc.in_flight(), 0);
}

TEST(Nscc, SendsWhileTheFlightAndOneMtuFit) {  // MRC-CC-010
  Sender s;
  s.send(55);  // 220,000 of 225,000
  EXPECT_TRUE(s.cc.may_send(kMtu));
  s.send(1);
  EXPECT_FALSE(s.cc.may_send(kMtu));
  EXPECT_FALSE(s.cc.may_send(100)) << "a small packet counts as an MTU";
}

TEST(Nscc, EarlyAndUnmarkedGrowsInProportionToTheRoom) {  // MRC-CC-003
  Sender near, far;
  for (Sender* s : {&near, &far}) s->shrink_to(100'000);
  const auto start = near.window();
  near.sack(8 * kMtu, 6us);  // a fifth of the target is left
  far.sack(8 * kMtu, 3us);   // three fifths
  const auto small = near.window() - start, large = far.window() - start;
  EXPECT_GT(small, 0u);
  EXPECT_NEAR(static_cast<double>(large), 3.0 * static_cast<double>(small), 3.0);
}

TEST(Nscc, LateAndUnmarkedGrowsFairly) {  // MRC-CC-004
  Sender s, later;
  for (Sender* x : {&s, &later}) x->shrink_to(100'000);
  const auto start = s.window();
  s.sack(8 * kMtu, 8us);
  later.sack(8 * kMtu, 15us);
  EXPECT_EQ(s.window(), later.window()) << "how late does not matter";
  const double expected = 5.0 * kMtu * 8 * kMtu / static_cast<double>(start);
  EXPECT_NEAR(static_cast<double>(s.window() - start), expected, 2.0);
}

TEST(Nscc, LateAndMarkedShrinksByHowLate) {  // MRC-CC-005
  Sender s;
  s.sack(225'000, 15us, true);  // avg_delay: half of it, which is the target
  EXPECT_EQ(s.window(), 225'000u) << "the average is not above the target yet";
  s.sack(225'000, 15us, true);  // 11.25 us
  const double factor = 1 - 0.8 * (11.25 - 7.5) / 11.25;
  EXPECT_NEAR(static_cast<double>(s.window()), 225'000 * factor, 0.02 * 225'000);
}

TEST(Nscc, ShrinksAtMostOncePerBaseRtt) {  // MRC-CC-005
  Sender s;
  s.sack(225'000, 30us, true);
  const auto once = s.window();
  s.wait(9us);
  s.sack(kMtu, 30us, true);
  EXPECT_GE(s.window(), once);
  s.wait(1us);
  s.sack(kMtu, 30us, true);
  EXPECT_LT(s.window(), once);
}

TEST(Nscc, OneDecreaseNeverGoesBelowMaxMdJump) {  // MRC-CC-005
  NsccConfig c = published();
  c.max_md_jump = 0.9f;
  c.eta = 0;
  Sender s(c);
  s.sack(225'000, 1ms, true);
  EXPECT_NEAR(static_cast<double>(s.window()), 0.9 * 225'000, 1.0);
}

TEST(Nscc, MarkedButEarlyLeavesTheWindowToThePaths) {  // MRC-CC-006
  NsccConfig c = published();
  c.eta = 0;
  Sender s(c);
  s.shrink_to(100'000);
  const auto start = s.window();
  for (int i = 0; i < 50; ++i) {
    s.wait(1us);
    s.sack(4 * kMtu, 2us, true);
  }
  EXPECT_EQ(s.window(), start);
}

TEST(Nscc, AWindowAtNearZeroDelayStartsFastIncrease) {  // MRC-CC-007
  NsccConfig c = published();
  c.eta = c.proportional = 0;
  Sender s(c);
  s.shrink_to(40'000);
  const auto start = s.window();
  for (std::uint64_t bytes = 0; bytes + kMtu <= start; bytes += kMtu) s.sack(kMtu, 500ns);
  EXPECT_EQ(s.window(), start) << "not before a whole window";
  s.sack(kMtu, 500ns);
  s.sack(kMtu, 500ns);
  EXPECT_NEAR(static_cast<double>(s.window() - start), 2 * 0.25 * kMtu, 0.25 * kMtu + 1);
  const auto grown = s.window();
  s.sack(kMtu, 2us);
  s.sack(kMtu, 500ns);
  EXPECT_EQ(s.window(), grown) << "one later packet ends it";
}

TEST(Nscc, IncreaseWaitsForBytesOrTime) {  // MRC-CC-008
  NsccConfig c = published();
  c.eta = 0;
  Sender s(c);
  s.shrink_to(100'000);
  s.sack(kMtu, 3us);  // takes what is pending
  s.wait(1us);
  s.sack(8 * kMtu, 3us);
  const auto start = s.window();
  s.sack(7 * kMtu, 3us);
  EXPECT_EQ(s.window(), start);
  s.sack(kMtu, 3us);
  EXPECT_GT(s.window(), start) << "eight MTU";
  const auto bytes = s.window();
  s.wait(10us);
  s.sack(1, 3us);
  EXPECT_GE(s.window(), bytes) << "one base_rtt";
}

TEST(Nscc, EtaComesOncePerPeriod) {  // MRC-CC-008
  NsccConfig c = published();
  c.proportional = c.fi = 0;
  Sender s(c);
  s.shrink_to(100'000);
  s.wait(10us);
  s.sack(kMtu, 5us);
  const auto start = s.window();
  s.wait(9us);
  s.sack(20 * kMtu, 5us);
  EXPECT_EQ(s.window(), start);
  s.wait(1us);
  s.sack(kMtu, 5us);
  EXPECT_NEAR(static_cast<double>(s.window() - start), 600.0, 1.0);
}

TEST(Nscc, BaseRttOnlyFallsAndTheMaximumFollows) {  // MRC-CC-009
  Sender s;
  s.sack(kMtu, -5us);
  EXPECT_EQ(s.cc.base_rtt(), 5us);
  EXPECT_EQ(s.cc.max_window(), 112'500u);
  EXPECT_EQ(s.window(), 112'500u);
  s.sack(kMtu, 5us);
  EXPECT_EQ(s.cc.base_rtt(), 5us);
}

TEST(Nscc, AnImpossibleRttIsNoSample) {  // MRC-CC-009
  Sender s;
  s.cc.on_sack(s.now, {.newly = kMtu, .rtt = 0us});
  s.cc.on_sack(s.now, {.newly = kMtu, .rtt = -1s});
  EXPECT_EQ(s.cc.base_rtt(), 10us);
  s.cc.on_sack(s.now, {.newly = kMtu, .rtt = 1ns});
  EXPECT_GE(s.cc.max_window(), kMtu) << "one packet may always go";
}

TEST(Nscc, TheWindowStaysBetweenOneMtuAndTheMaximum) {  // MRC-CC-011
  Sender s;
  for (int i = 0; i < 100; ++i) s.trim();
  EXPECT_EQ(s.window(), kMtu);
  for (int i = 0; i < 20'000; ++i) {
    s.wait(1us);
    s.sack(4 * kMtu, 0us);
  }
  EXPECT_EQ(s.window(), 225'000u);
}

TEST(Nscc, APeerThatReportsTooMuchGainsAtMostOneWindow) {
  Sender s;
  s.send(1);
  for (int i = 0; i < 1000; ++i) s.sack(std::uint64_t{1} << 32, 0us);
  EXPECT_EQ(s.window(), 225'000u);
}

TEST(Nscc, ALeastWindowOfSeveralPackets) {
  NsccConfig c = published();
  c.least_window = 4;
  Sender s(c);
  for (int i = 0; i < 100; ++i) s.trim();
  EXPECT_EQ(s.window(), 4 * kMtu);
}

// MRC-CC-023: where round trips are software's, target and periods follow the lowest that was measured.
TEST(Nscc, ALearntBaseTakesTargetAndPeriodsAlong) {
  NsccConfig c = published();  // base 10 us, target 7.5 us
  c.learn_base_rtt = true;
  Sender s(c);
  const auto marked = [&](Duration rtt) {
    s.cc.on_sack(s.now, {.newly = kMtu, .rtt = rtt, .ecn = true});
    return s.window();
  };
  EXPECT_EQ(marked(2ms), 225'000u);  // the first sample is the base: no delay
  EXPECT_EQ(s.cc.base_rtt(), 2ms);
  EXPECT_EQ(marked(3ms), 225'000u);  // a delay of 1 ms is below the target of 1.5 ms
  std::uint64_t after = 0;
  for (int i = 0; i < 200; ++i) after = marked(20ms);
  EXPECT_LT(after, 225'000u);
  EXPECT_GE(after, 112'500u) << "all within one base_rtt: one decrease";
  marked(1ms);
  EXPECT_EQ(s.cc.base_rtt(), 1ms);
  marked(1us);
  EXPECT_EQ(s.cc.base_rtt(), 10us) << "the profile's is the floor";
}

// A timestamp of 16 bits wraps: 8.5 ms look like 0.1 ms.
TEST(Nscc, ARoundTripThatMayHaveWrappedDoesNotLowerTheBase) {
  Sender s;
  s.send(8);
  s.cc.on_sack(s.now, {.newly = kMtu, .rtt = 1us, .rtt_certain = false});
  EXPECT_EQ(s.cc.base_rtt(), 10us);
  EXPECT_EQ(s.window(), 225'000u);
  s.cc.on_sack(s.now, {.newly = kMtu, .rtt = 5us});
  EXPECT_EQ(s.cc.base_rtt(), 5us);
}

// In an incast nearly all samples are of repaired packets, from senders nearer than the profile's base.
TEST(Nscc, ARoundTripBelowTheBaseThatIsNotCertainStillSaysThatNothingQueues) {
  Sender s;
  s.send(60);
  s.shrink_to(100'000);
  for (int i = 0; i < 50; ++i) s.cc.on_sack(s.now += 1us, {.newly = kMtu, .rtt = 30us});
  const std::uint64_t before = s.window();
  s.cc.on_sack(s.now += 20us, {.newly = kMtu, .rtt = 9us, .rtt_certain = false, .ecn = true});
  EXPECT_GE(s.window(), before) << "a mark without delay is one bad path";
  EXPECT_EQ(s.cc.base_rtt(), 10us);
  s.cc.on_sack(s.now += 20us, {.newly = kMtu, .rtt = 30us, .ecn = true});
  EXPECT_LT(s.window(), before) << "and with delay it is a queue";
}

TEST(Nscc, SackWithoutTimestampKeepsTheLastDelay) {
  Sender s;
  s.shrink_to(100'000);
  const auto start = s.window();
  s.cc.on_sack(s.now, {.newly = 8 * kMtu});  // the last delay was late; unmarked: fair increase
  EXPECT_NEAR(static_cast<double>(s.window() - start), 5.0 * kMtu * 8 * kMtu / static_cast<double>(start),
              2.0);
}

}  // namespace
}  // namespace mrc::engine::testing
