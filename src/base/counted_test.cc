#include "base/counted.h"

#include <gtest/gtest.h>

namespace mrc {
namespace {

TEST(Counted, OneIsNotMany) {
  EXPECT_EQ(counted(1, "QP"), "1 QP");
  EXPECT_EQ(counted(0, "QP"), "0 QPs");
  EXPECT_EQ(counted(2, "queue pair"), "2 queue pairs");
}

TEST(Counted, SomeHaveAnotherEnd) {
  EXPECT_EQ(counted(2, "switch"), "2 switches");
  EXPECT_EQ(counted(3, "loss"), "3 losses");
  EXPECT_EQ(counted(4, "process"), "4 processes");
  EXPECT_EQ(counted(5, "retry"), "5 retries");
  EXPECT_EQ(counted(1, "loss") + counted(1, "retry"), "1 loss1 retry");
}

}  // namespace
}  // namespace mrc
