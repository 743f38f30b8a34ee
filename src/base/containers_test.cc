// Ring, bitmaps and counters against naive models.
#include <gtest/gtest.h>

#include <deque>
#include <memory>

#include "base/bitmap.h"
#include "base/counters.h"
#include "base/prng.h"
#include "base/ring.h"

namespace mrc {
namespace {

TEST(Ring, RefusesWhenFullAndKeepsOrder) {
  Ring<int> ring(3);  // not a power of two: the capacity is what was asked for
  EXPECT_TRUE(ring.push(1) && ring.push(2) && ring.push(3));
  EXPECT_TRUE(ring.full());
  EXPECT_FALSE(ring.push(4));
  EXPECT_EQ(ring.front(), 1);
  EXPECT_EQ(ring.back(), 3);
  EXPECT_EQ(ring.pop(), 1);
  EXPECT_EQ(ring.pop_back(), 3);
  EXPECT_EQ(ring.size(), 1u);
}

TEST(Ring, BehavesAsADeque) {
  Ring<unsigned> ring(37);
  std::deque<unsigned> model;
  Prng prng(1);
  for (unsigned i = 0; i < 20000; ++i) {
    if (prng.chance(0.52)) {
      ASSERT_EQ(ring.push(i), model.size() < 37);
      if (model.size() < 37) model.push_back(i);
    } else if (!model.empty()) {
      ASSERT_EQ(ring.pop(), model.front());
      model.pop_front();
    }
    ASSERT_EQ(ring.size(), model.size());
    if (!model.empty()) {
      const auto at = prng.below(static_cast<unsigned>(model.size()));
      ASSERT_EQ(ring[at], model[at]);
    }
  }
}

TEST(Ring, WithoutCapacityItIsBothEmptyAndFull) {
  Ring<int> ring;
  EXPECT_TRUE(ring.empty() && ring.full());
  EXPECT_FALSE(ring.push(1));
}

TEST(Ring, TakesTypesThatOnlyMove) {
  Ring<std::unique_ptr<int>> ring(2);
  EXPECT_TRUE(ring.push(std::make_unique<int>(7)));
  EXPECT_EQ(*ring.pop(), 7);
}

TEST(RingDeathTest, PopOfNothingIsOurMistake) { EXPECT_DEATH((void)Ring<int>(1).pop(), "check failed"); }

TEST(Bitmap, FindsAcrossWords) {
  Bitmap bits(130);
  EXPECT_EQ(bits.find_set(0), 130u);
  bits.set(63), bits.set(64), bits.set(129);
  EXPECT_EQ(bits.count(), 3u);
  EXPECT_EQ(bits.find_set(0), 63u);
  EXPECT_EQ(bits.find_set(65), 129u);
  EXPECT_EQ(bits.find_clear(63), 65u);
  EXPECT_EQ(bits.find_clear(129), 130u);
  bits.clear(64);
  EXPECT_FALSE(bits.test(64));
  bits.clear_all();
  EXPECT_EQ(bits.count(), 0u);
}

TEST(BitmapDeathTest, OutsideIsOurMistake) {
  Bitmap bits(10);
  EXPECT_DEATH(bits.set(10), "check failed");
}

std::uint64_t model_window(const std::deque<bool>& model, std::size_t from) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 64 && from + i < model.size(); ++i) bits |= std::uint64_t{model[from + i]} << i;
  return bits;
}

TEST(WindowBitmap, BehavesAsASlidingModel) {
  WindowBitmap window(256);
  std::deque<bool> model(256, false);
  Prng prng(2);
  for (int step = 0; step < 20000; ++step) {
    const std::size_t i = prng.below(256);
    ASSERT_EQ(window.set(i), !model[i]);
    model[i] = true;
    const std::size_t n = prng.chance(0.01) ? prng.below(400) : prng.chance(0.1) ? prng.below(9) : 0;
    window.slide(n);
    for (std::size_t k = 0; k < n; ++k) model.pop_front(), model.push_back(false);

    const std::size_t at = prng.below(300);
    ASSERT_EQ(window.window64(at), model_window(model, at));
    std::size_t ones = 0, end = 0, count = 0;
    while (ones < 256 && model[ones]) ++ones;
    for (std::size_t k = 0; k < 256; ++k)
      if (model[k]) end = k + 1, ++count;
    ASSERT_EQ(window.leading_ones(), ones);
    ASSERT_EQ(window.end(), end);
    ASSERT_EQ(window.count(), count);
  }
}

TEST(Counters, CountByNameAndAddUp) {
  enum class Fruit { apple, pear };
  Counters<Fruit, 2> a, b;
  a.add(Fruit::apple);
  b.add(Fruit::pear, 5);
  a += b;
  EXPECT_EQ(a[Fruit::apple], 1u);
  EXPECT_EQ(a[Fruit::pear], 5u);
  EXPECT_EQ(a.total(), 6u);
}

}  // namespace
}  // namespace mrc
