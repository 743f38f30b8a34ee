#include "nccl/lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace mrc::nccl {
namespace {

using ::testing::ElementsAre;

TEST(Lanes, TwoForEachAdapterOverTheSamePorts) {
  EXPECT_THAT(lanes_of(6, 1), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4, 5)));
  // Two devices named, four threads for each: they stand as 0 1 0 1 0 1 0 1.
  EXPECT_THAT(lanes_of(8, 2),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3), ElementsAre(4, 6), ElementsAre(5, 7)));
}

TEST(Lanes, AnOddThreadIsAnAdapterOfItsOwn) {
  EXPECT_THAT(lanes_of(3, 1), ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
  EXPECT_THAT(lanes_of(1, 1), ElementsAre(ElementsAre(0)));
}

TEST(Lanes, DevicesThatNobodyRepeatedStandForThemselves) {
  EXPECT_THAT(lanes_of(3, 3), ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
  EXPECT_THAT(lanes_of(0, 0), ElementsAre());
}

TEST(Lanes, NoTwoAdaptersHaveTheSameGuid) {
  std::set<std::uint64_t> seen;
  for (std::size_t adapter = 0; adapter < 12; ++adapter) {
    const std::uint64_t port =
        0x0c42a1fffe000010 + adapter % 2;  // of a card with two: one MAC after the other
    EXPECT_TRUE(seen.insert(guid_of(port, adapter)).second) << adapter;
  }
}

}  // namespace
}  // namespace mrc::nccl
