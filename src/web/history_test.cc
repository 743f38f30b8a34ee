// Frames of the past, within bounds.
#include "web/history.h"

#include <gtest/gtest.h>

namespace mrc::web {
namespace {

TEST(History, GivesPagesOfWhatItStillHas) {
  History h(1000, 3);
  for (int i = 0; i < 5; ++i) h.add(std::to_string(i));
  EXPECT_EQ(h.first(), 2u);
  EXPECT_EQ(h.end(), 5u);
  EXPECT_EQ(h.at(1), "");
  EXPECT_EQ(h.at(4), "4");
  EXPECT_EQ(h.page(0, 2), "[2,3]");
  EXPECT_EQ(h.page(4, 100), "[4]");
  EXPECT_EQ(h.page(5, 100), "[]");
  EXPECT_EQ(h.page(UINT64_MAX, 100), "[]");
}

TEST(History, ForgetsTheOldestWhenItIsLarge) {
  History h(100, 1000);
  for (int i = 0; i < 50; ++i) h.add(std::string(30, 'x'));
  EXPECT_EQ(h.end() - h.first(), 3u);
}

}  // namespace
}  // namespace mrc::web
