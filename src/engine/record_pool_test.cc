// The pool's promises about memory: low slabs first, from the start of a page on.
#include "engine/record_pool.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace mrc::engine {
namespace {

TEST(RecordPool, WhatIsUsedSharesNoPageWithWhatIsNot) {
  RecordPool pool(1024);
  const std::uint16_t first = pool.take(), second = pool.take();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&pool[first]) % 4096, 0u);
  EXPECT_EQ(&pool[second], &pool[first] + 1);
}

TEST(RecordPool, ASlabThatCameBackIsTakenNextAndIsEmpty) {
  RecordPool pool(1024);
  const std::uint16_t first = pool.take();
  pool[first].in_flight = 5;
  pool.give(first);
  EXPECT_EQ(pool.used_slabs(), 0u);
  EXPECT_EQ(pool.take(), first);
  EXPECT_EQ(pool[first].in_flight, 0u);
}

TEST(RecordPool, AnEmptyPoolSaysSo) {
  RecordPool pool(Slab::kPsns);
  EXPECT_NE(pool.take(), RecordPool::kNone);
  EXPECT_EQ(pool.take(), RecordPool::kNone);
}

}  // namespace
}  // namespace mrc::engine
