#include "nic/region_table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/prng.h"

namespace mrc::nic {
namespace {

using Access = RegionTable::Access;

std::byte memory[4096];

Region region_at(std::uint64_t va, std::uint64_t length, bool remote_write = true) {
  return {va, length, memory, PdId(1), remote_write};
}

TEST(RegionTable, ChecksKeyDomainAccessAndBounds) {
  RegionTable table(4, {1, 2});
  const RKey key = *table.add(region_at(1000, 100));
  const RKey sealed = *table.add(region_at(1000, 100, false));
  std::byte* place = nullptr;
  EXPECT_EQ(table.check_remote(PdId(1), key, 1010, 90, place), Access::ok);
  EXPECT_EQ(place, memory + 10);
  EXPECT_EQ(table.check_remote(PdId(1), key, 1010, 91, place), Access::out_of_bounds);
  EXPECT_EQ(table.check_remote(PdId(1), key, 999, 1, place), Access::out_of_bounds);
  EXPECT_EQ(table.check_remote(PdId(1), key, ~std::uint64_t{0}, 10, place), Access::out_of_bounds);
  EXPECT_EQ(table.check_remote(PdId(2), key, 1000, 1, place), Access::bad_rkey);
  EXPECT_EQ(table.check_remote(PdId(1), RKey(key.value ^ 1), 1000, 1, place), Access::bad_rkey);
  EXPECT_EQ(table.check_remote(PdId(1), RKey(0), 1000, 1, place), Access::bad_rkey);
  EXPECT_EQ(table.check_remote(PdId(1), sealed, 1000, 1, place), Access::no_access);
  EXPECT_EQ(table.check_local(PdId(1), sealed, 1000, 1, place), Access::ok);
}

// MRC-NIC-002
TEST(RegionTable, AZeroLengthWriteNeedsNoKey) {
  RegionTable table(1, {1, 2});
  std::byte* place = nullptr;
  EXPECT_EQ(table.check_remote(PdId(1), RKey(77), 5, 0, place), Access::ok);
  EXPECT_EQ(place, nullptr);
}

TEST(RegionTable, AFullTableRefusesAndRemovalMakesRoom) {
  RegionTable table(2, {1, 2});
  const RKey first = *table.add(region_at(0, 1));
  ASSERT_TRUE(table.add(region_at(0, 1)));
  EXPECT_FALSE(table.add(region_at(0, 1)));
  EXPECT_TRUE(table.remove(first));
  EXPECT_FALSE(table.remove(first));
  EXPECT_EQ(table.find(first), nullptr);
  EXPECT_TRUE(table.add(region_at(0, 1)));
}

// MRC-NIC-001: keys fill the 32 bits, repeat nowhere, and depend on the secret.
TEST(RegionTable, KeysSayNothingAboutEachOther) {
  RegionTable table(4096, {3, 4}), other(4096, {3, 5});
  std::set<std::uint32_t> keys;
  int ones = 0;
  for (int i = 0; i < 4096; ++i) {
    const RKey key = *table.add(region_at(0, 1));
    EXPECT_TRUE(keys.insert(key.value).second);
    ones += std::popcount(key.value);
  }
  EXPECT_NEAR(ones / 4096.0, 16.0, 0.3);
  int shared = 0;
  for (int i = 0; i < 4096; ++i) shared += static_cast<int>(keys.count(other.add(region_at(0, 1))->value));
  EXPECT_LE(shared, 1);
}

TEST(RegionTable, AgreesWithAMapThroughRandomUse) {
  RegionTable table(64, {5, 6});
  std::map<std::uint32_t, std::uint64_t> model;
  Prng prng(1);
  for (int step = 0; step < 20'000; ++step) {
    if (model.size() < 64 && prng.chance(0.5)) {
      const std::uint64_t va = prng.next();
      model[table.add(region_at(va, 1))->value] = va;
    } else if (!model.empty()) {
      const auto victim = std::next(model.begin(), prng.below(static_cast<std::uint32_t>(model.size())));
      ASSERT_TRUE(table.remove(RKey(victim->first)));
      model.erase(victim);
    }
    ASSERT_EQ(table.size(), model.size());
    if (step % 50 != 0) continue;
    for (const auto& [key, va] : model) ASSERT_EQ(table.find(RKey(key))->va, va);
  }
}

}  // namespace
}  // namespace mrc::nic
