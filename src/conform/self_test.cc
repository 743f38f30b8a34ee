// Our own device passes every check, in virtual time. tests/conform proves that each check can fail.
#include <gtest/gtest.h>

#include "conform/run.h"
#include "conform/self_device.h"

namespace mrc::conform {
namespace {

class SelfTest : public testing::TestWithParam<Check> {};

TEST_P(SelfTest, PassesOnOnePlane) {
  SelfDevice self;
  const CheckResult result = run_check(GetParam(), self, self, {});
  const auto wanted = GetParam().needs.planes ? Outcome::Kind::skip : Outcome::Kind::pass;
  EXPECT_EQ(result.outcome.kind, wanted) << result.outcome.why;
}

TEST_P(SelfTest, PassesOnTwoPlanes) {
  SelfDevice self({.planes = 2});
  const CheckResult result = run_check(GetParam(), self, self, {});
  EXPECT_EQ(result.outcome.kind, Outcome::Kind::pass) << result.outcome.why;
}

INSTANTIATE_TEST_SUITE_P(Checks, SelfTest, testing::ValuesIn(all_checks()),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(Selection, NamesAndRoles) {
  EXPECT_FALSE(select_checks({.names = {"no_such"}}));
  EXPECT_EQ(select_checks({.names = {"sack_psn"}})->size(), 1u);
  const auto responder = *select_checks({.requestor = false}),
             requestor = *select_checks({.responder = false});
  EXPECT_EQ(responder.size() + requestor.size(), all_checks().size());
}

}  // namespace
}  // namespace mrc::conform
