#include "base/size.h"

#include <gtest/gtest.h>

namespace mrc {
namespace {

TEST(Size, AsPeopleWriteThem) {
  const struct {
    const char* text;
    std::uint64_t bytes;
  } good[] = {
      {"0", 0},          {"65536", 65536},   {"7B", 7},          {"64K", 65536},
      {"64k", 65536},    {"64Ki", 65536},    {"64KiB", 65536},   {"64kB", 64'000},
      {"1M", 1 << 20},   {"1MB", 1'000'000}, {"1.5M", 3 << 19},  {"2G", 2u << 30},
      {"1MiB", 1 << 20}, {"1T", 1ull << 40}, {"1e6", 1'000'000}, {"1000000000000000", 1'000'000'000'000'000}};
  for (const auto& [text, bytes] : good) EXPECT_EQ(parse_size(text), bytes) << text;
}

TEST(Size, NonsenseIsNone) {
  for (const char* text : {"", "K", "-1", "-0", "64Q", "64KK", "64 K", "64Kb/s", "lots", "nan", "inf", "0x10",
                           "1001T", "1e99", "64i", "+4"})
    EXPECT_FALSE(parse_size(text)) << text;
}

}  // namespace
}  // namespace mrc
