// Do transfers take as long in the simulator as in a lab? From the first request to the last completion, with
// and without an incast whose packets are trimmed.
//
// A busy machine only ever adds to a lab's times: the quickest of some trials is compared.
#include "fidelity.h"

#include <algorithm>
#include <cmath>

namespace mrc::testing {
namespace {

constexpr int kTrials = 5;
constexpr double kAgreement = 0.10;

double simulated_seconds(const scenario::Outcome& o) {
  sim::Ps last = 0;
  for (const sim::Flow& f : o.flows) last = std::max(last, f.acknowledged);
  return sim::seconds(last);
}

double lab_seconds(const Samples& seen) {
  std::int64_t began = INT64_MAX, done = 0;
  for (const auto& s : seen) {
    began = std::min(began, s.back().began_ns);
    done = std::max(done, s.back().done_ns);
  }
  return static_cast<double>(done - began) / 1e9;
}

/// The longest that an end of a transfer was kept from its work.
double lateness_ms(const Samples& seen) {
  std::int64_t late = 0;
  for (const auto& own : seen) {
    for (const tools::BulkSample& s : own) late = std::max(late, s.late_ns);
  }
  return static_cast<double>(late) / 1e6;
}
constexpr double kTooLateMs = 17;  // half of what a packet takes on a link

void expect_same_time(const std::vector<Transfer>& transfers, std::uint32_t window) {
  const scenario::Outcome model = simulate(simulated(transfers, window));
  ASSERT_EQ(model.unfinished, "");
  const double wanted = simulated_seconds(model);
  const topo::Topology topo = slow_fabric();
  MRC_FIRST_LAB_OR_SKIP(lab, topo);
  double nearest = HUGE_VAL, late = HUGE_VAL;
  for (int trial = 0; trial < kTrials && std::abs(nearest - 1) > kAgreement; ++trial) {
    Samples seen;
    ASSERT_TRUE(run_in_lab(lab, transfers, window, seen));
    const double ratio = lab_seconds(seen) / wanted;
    if (std::abs(ratio - 1) < std::abs(nearest - 1)) nearest = ratio;
    late = std::min(late, lateness_ms(seen));
    std::printf("%.0f ms in the lab, %.0f ms in the simulator: %.3f; an end was late by %.0f ms\n",
                lab_seconds(seen) * 1e3, wanted * 1e3, ratio, lateness_ms(seen));
  }
  if (nearest > 1 + kAgreement && late > kTooLateMs)
    GTEST_SKIP() << "NOT COMPARED: in every trial this machine kept an end from its work for " << late
                 << " ms or more";
  EXPECT_NEAR(nearest, 1, kAgreement);
}

TEST(LabFidelity, ATransferTakesAsLong) { expect_same_time({{0, 2, 40}}, 112 * 1024); }

TEST(LabFidelity, AnIncastTakesAsLong) { expect_same_time({{0, 3, 12}, {1, 3, 12}, {2, 3, 12}}, 40 * 1024); }

}  // namespace
}  // namespace mrc::testing
