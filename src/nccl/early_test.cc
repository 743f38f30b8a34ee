#include "nccl/early.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace mrc::nccl {
namespace {

Grant grant_of(std::initializer_list<int> tags, std::uint32_t arrived, std::uint32_t done = 0) {
  Grant grant{0, static_cast<std::uint16_t>(tags.size()), 0, arrived, done, {}};
  std::uint32_t i = 0;
  for (const int tag : tags) grant.buffers[i++].tag = tag;
  return grant;
}

TEST(EarlySent, WhatIsUnderWayFillsTheFirstBuffersOfItsTag) {
  EarlySent early;
  for (const int tag : {1, 2, 1}) early.note_sent(tag);
  EXPECT_EQ(early.fill(grant_of({1, 3, 1, 1}, 0)), 0b101u);
  EXPECT_EQ(early.fill(grant_of({1, 2}, 0)), 0b10u) << "each message once";
}

TEST(EarlySent, WhatHadComeBeforeTheGrantIsNoConcernOfIt) {
  EarlySent early;
  for (const int tag : {1, 1, 1}) early.note_sent(tag);
  EXPECT_EQ(early.fill(grant_of({1, 1}, 2, 2)), 0b1u);
  Grant marked = grant_of({1, 1}, 3, 3);
  marked.filled = 0b1;
  EXPECT_EQ(early.fill(marked), 0b1u) << "the receiver said so";
}

TEST(EarlySent, HasAsMuchRoomAsTheReceiverSays) {
  EarlySent early;
  for (std::uint32_t i = 0; i < kEarlySlots; ++i) {
    EXPECT_TRUE(early.has_room());
    early.note_sent(0);
  }
  EXPECT_FALSE(early.has_room());
  EXPECT_TRUE(early.note_done(1));
  EXPECT_TRUE(early.has_room());
  EXPECT_FALSE(early.note_done(0)) << "it had more before";
  EXPECT_FALSE(early.note_done(kEarlySlots + 1)) << "more than were sent";
}

TEST(EarlySent, NonsenseIsSeen) {
  EarlySent early;
  early.note_sent(0);
  EXPECT_EQ(early.fill(grant_of({0}, 2)), EarlySent::kNonsense) << "more than were sent";
  EXPECT_EQ(early.fill(grant_of({0}, 0, 1)), EarlySent::kNonsense) << "done before it came";
  EXPECT_EQ(early.fill(grant_of({0}, 1, 1)), 0u);
  EXPECT_EQ(early.fill(grant_of({0}, 0)), EarlySent::kNonsense) << "fewer than before";
}

TEST(EarlyReceived, LeavesTheRingInOrderHoweverItIsTaken) {
  EarlyReceived early;
  for (int i = 0; i < 3; ++i) early.note_arrived();
  early.note_taken(1);
  EXPECT_EQ(early.done(), 0u);
  EXPECT_TRUE(early.waits(0));
  EXPECT_FALSE(early.waits(1));
  early.note_taken(0);
  EXPECT_EQ(early.done(), 2u);
  early.note_taken(2);
  EXPECT_EQ(early.done(), 3u);
}

TEST(GrantImmediate, SurvivesItsWord) {
  for (const std::uint32_t number : {0u, 5u, 0x7FFF'FFFFu, 0x8000'0001u, 0xFFFF'FFFFu}) {
    const auto back = GrantImmediate::from(GrantImmediate{true, number}.word());
    EXPECT_TRUE(back.only_done);
    EXPECT_EQ(back.after(number - 7), number);
    EXPECT_FALSE(GrantImmediate::from(GrantImmediate{false, number}.word()).only_done);
  }
}

}  // namespace
}  // namespace mrc::nccl
