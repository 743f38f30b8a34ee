// A broken twin of ours: each defect is caught by the check that names its requirement, and claimed by no
// other.
#include <gtest/gtest.h>

#include <set>

#include "twin.h"

namespace mrc::conform {
namespace {

std::vector<Defect> all_defects() {
  std::vector<Defect> all = responder_defects();
  for (Defect& d : requestor_defects()) all.push_back(std::move(d));
  for (Defect& d : congestion_defects()) all.push_back(std::move(d));
  for (Defect& d : plane_defects()) all.push_back(std::move(d));
  return all;
}

std::string failures(const Defect& defect) {
  std::string failed;
  Twin twin(defect);
  for (const Check& check : all_checks()) {
    const CheckResult result = run_check(check, twin, twin, {});
    if (result.outcome.kind != Outcome::Kind::fail) continue;
    failed += (failed.empty() ? "" : ",") + std::string(check.name);
    EXPECT_FALSE(result.outcome.why.empty());
    EXPECT_FALSE(result.capture.empty()) << "a failure comes with its packets";
  }
  return failed;
}

TEST(Twin, WithoutADefectPasses) {
  EXPECT_EQ(failures({}), "");
  EXPECT_EQ(failures({.planes = 2}), "");
}

class DefectTest : public testing::TestWithParam<Defect> {};

TEST_P(DefectTest, IsCaughtByItsCheckAndClaimedByNoOther) {
  EXPECT_EQ(failures(GetParam()), GetParam().check);
}

INSTANTIATE_TEST_SUITE_P(Twin, DefectTest, testing::ValuesIn(all_defects()), [](const auto& each) {
  std::string name = each.param.name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

TEST(Twin, HasADefectForEachCheck) {
  std::set<std::string> caught;
  for (const Defect& d : all_defects()) caught.insert(d.check);
  for (const Check& check : all_checks()) EXPECT_TRUE(caught.count(std::string(check.name))) << check.name;
}

}  // namespace
}  // namespace mrc::conform
