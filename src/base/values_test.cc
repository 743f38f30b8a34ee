// PSNs, ids, the generator and results: the small values that everything counts on.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <memory>
#include <type_traits>
#include <unordered_set>

#include "base/ids.h"
#include "base/prng.h"
#include "base/psn.h"
#include "base/result.h"
#include "base/time.h"

namespace mrc {
namespace {

TEST(Psn, WrapsAt24Bits) {
  EXPECT_EQ(Psn(0xFFFFFF) + 1, Psn(0));
  EXPECT_EQ(Psn(0) - 1, Psn(0xFFFFFF));
  EXPECT_EQ(Psn(0x1000005).value(), 5u);
  Psn p(0xFFFFFF);
  EXPECT_EQ((++p).value(), 0u);
}

TEST(Psn, DistanceIsSigned) {
  EXPECT_EQ(Psn(2) - Psn(0xFFFFFE), 4);
  EXPECT_EQ(Psn(0xFFFFFE) - Psn(2), -4);
  EXPECT_EQ(Psn(0x7FFFFF) - Psn(0), 0x7FFFFF);
  EXPECT_EQ(Psn(0x800000) - Psn(0), -0x800000);  // exactly half way counts as behind
}

TEST(Psn, OrderAndWindowHoldEverywhereOnTheCircle) {
  Prng prng(3);
  for (int i = 0; i < 20000; ++i) {
    const Psn base(static_cast<std::uint32_t>(prng.next()));
    const auto d = static_cast<std::int32_t>(prng.between(1, 0x7FFFFF));
    const Psn later = base + d;
    ASSERT_EQ(later - base, d);
    ASSERT_TRUE(later.after(base) && base.before(later) && !later.before(base));
    ASSERT_TRUE(in_window(later, base, d));
    ASSERT_FALSE(in_window(later, base, d - 1));
    ASSERT_FALSE(in_window(base, base, d));
  }
}

TEST(Ids, AreDistinctTypes) {
  static_assert(!std::is_convertible_v<Qpn, Ev>);
  static_assert(!std::is_convertible_v<std::uint32_t, Qpn>);
  static_assert(sizeof(Ev) == sizeof(std::uint32_t));
  EXPECT_LT(Qpn(1), Qpn(2));
  EXPECT_EQ(std::unordered_set<Ev>({Ev(1), Ev(1), Ev(2)}).size(), 2u);
}

TEST(PortMask, BitNIsPortN) {
  PortMask ports = PortMask::first(8);
  EXPECT_EQ(ports.bits(), 0x1FEu);  // bit 0 is unused: ports count from 1
  ports.remove(PortId(3));
  EXPECT_FALSE(ports.has(PortId(3)));
  ports.add(PortId(31));
  EXPECT_TRUE(ports.has(PortId(31)));
  EXPECT_EQ((ports & PortMask::first(2)).bits(), 6u);
  EXPECT_EQ(PortMask::first(kMaxPorts).bits(), 0xFFFFFFFEu);
}

TEST(Prng, OneSeedOneSequence) {
  Prng a(42), b(42), c(43);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const auto v = a.next();
    ASSERT_EQ(v, b.next());
    differs |= v != c.next();
  }
  EXPECT_TRUE(differs);
}

TEST(Prng, RangesAreFilledEvenlyAndNeverLeft) {
  Prng prng(4);
  std::array<int, 10> seen{};
  for (int i = 0; i < 100000; ++i) ++seen[prng.below(10)];
  for (const int n : seen) EXPECT_NEAR(n, 10000, 500);
  for (int i = 0; i < 1000; ++i) {
    const auto v = prng.between(5, 7);
    ASSERT_TRUE(v >= 5 && v <= 7);
    const double u = prng.unit();
    ASSERT_TRUE(u >= 0 && u < 1);
  }
  EXPECT_FALSE(prng.chance(0));
  EXPECT_TRUE(prng.chance(1));
}

TEST(Result, HoldsAValueOrAnError) {
  Result<std::unique_ptr<int>> good = std::make_unique<int>(7);
  ASSERT_TRUE(good);
  EXPECT_EQ(**good, 7);
  EXPECT_EQ(*std::move(*std::move(good)), 7);
  const Status bad = Error{ENOENT, "no such file: make it first"};
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ENOENT);
}

TEST(ResultDeathTest, ReadingAnErrorAsAValueIsOurMistake) {
  Result<int> bad = Error{EINVAL, "no"};
  EXPECT_DEATH((void)*bad, "check failed");
}

TEST(Time, IsAnIntegerInNanoseconds) {
  EXPECT_EQ((Time{} + 3us).time_since_epoch().count(), 3000);
  EXPECT_LT(Time{} + 24h * 365, kNever);
}

}  // namespace
}  // namespace mrc
