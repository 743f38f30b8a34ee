// What is said of planes that seem dead.
#include "collective/plane_looks.h"

#include <gtest/gtest.h>

#include "collective/core_wait.h"

namespace mrc::collective {
namespace {

TEST(PlaneLooks, DeadIsWhatWasSoAtEachLook) {
  PlaneLooks looks;
  EXPECT_FALSE(looks.any_dead());
  looks.note(0b0110);
  EXPECT_TRUE(looks.any_dead());
  looks.note(0b0100);
  EXPECT_TRUE(looks.any_dead());
  looks.note(0b0010);  // each of them has answered once
  EXPECT_FALSE(looks.any_dead());
  looks.note(0b1111);  // and nobody is called dead for one bad moment
  EXPECT_FALSE(looks.any_dead());
}

TEST(CoreWait, IsTheSecondNumberOfTheKernels) {
  EXPECT_EQ(waited_ns("109328427 28411 42"), 28411u);
  EXPECT_FALSE(waited_ns("")) << "a kernel that does not say";
  EXPECT_GE(CoreWait().share(), 0);
}

}  // namespace
}  // namespace mrc::collective
