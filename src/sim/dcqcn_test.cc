// DCQCN against what its publication says it does, step by step.
#include "sim/dcqcn.h"

#include <gtest/gtest.h>

#include <cmath>

namespace mrc::sim {
namespace {

constexpr double kLine = 40e9;
constexpr Ps kUs = 1'000'000;

TEST(Dcqcn, StartsAtLineRateAndStaysThere) {
  const DcqcnSettings settings;
  Dcqcn d(settings, kLine);
  for (Ps t = 0; t < 10'000 * kUs; t += 100 * kUs) {
    d.on_send(t, 4096);
    EXPECT_EQ(d.rate(t), kLine);
  }
}

TEST(Dcqcn, TheFirstNotificationHalvesTheRate) {
  const DcqcnSettings settings;
  Dcqcn d(settings, kLine);
  d.on_cnp(0);  // alpha begins at 1
  EXPECT_DOUBLE_EQ(d.rate(0), kLine / 2);
  EXPECT_DOUBLE_EQ(d.target(), kLine);
}

TEST(Dcqcn, AlphaFadesWithoutNotificationsAndRisesWithThem) {
  const DcqcnSettings settings;
  Dcqcn d(settings, kLine);
  d.on_cnp(0);
  const double before = d.alpha();
  d.rate(10 * settings.alpha_timer);
  EXPECT_NEAR(d.alpha(), before * std::pow(1 - settings.g, 10), 1e-12);
  const double faded = d.alpha();
  d.on_cnp(10 * settings.alpha_timer + 1);
  EXPECT_NEAR(d.alpha(), (1 - settings.g) * faded + settings.g, 1e-12);
}

TEST(Dcqcn, FastRecoveryHalvesTheDistanceFiveTimes) {
  const DcqcnSettings settings;
  Dcqcn d(settings, kLine);
  d.on_cnp(0);
  double expected = kLine / 2;
  for (int stage = 1; stage <= 5; ++stage) {
    expected = (expected + kLine) / 2;
    EXPECT_NEAR(d.rate(stage * settings.rate_timer), expected, 1) << stage;
  }
}

TEST(Dcqcn, AfterFastRecoveryTheTargetGrowsByTheAdditiveStep) {
  const DcqcnSettings settings;
  Dcqcn d(settings, kLine);
  d.on_cnp(0);
  d.on_cnp(1);  // now the target is half the line rate, and there is room above it
  const double target = d.target();
  EXPECT_DOUBLE_EQ(target, kLine / 2);
  d.rate(1 + 5 * settings.rate_timer);
  EXPECT_DOUBLE_EQ(d.target(), target);
  d.rate(1 + 7 * settings.rate_timer);
  EXPECT_DOUBLE_EQ(d.target(), target + 2 * settings.additive);
}

TEST(Dcqcn, BytesAndTimeTogetherLeadToHyperIncrease) {
  const DcqcnSettings settings;
  Dcqcn d(settings, kLine);
  d.on_cnp(0);
  d.on_cnp(1);
  const double target = d.target();
  for (int i = 0; i < 6; ++i) d.on_send(2, static_cast<std::uint32_t>(settings.rate_bytes));
  EXPECT_DOUBLE_EQ(d.target(), target + settings.additive);  // bytes alone: past the fast stages
  d.rate(1 + 6 * settings.rate_timer);                       // the sixth of time: both are past
  EXPECT_DOUBLE_EQ(d.target(), target + settings.additive * 6 + settings.hyper);
}

}  // namespace
}  // namespace mrc::sim
