// The internet checksum against the definition, byte by byte.
#include "wire/checksum.h"

#include <gtest/gtest.h>

#include <vector>

#include "wire/testing.h"

namespace mrc::wire {
namespace {

std::uint16_t by_definition(Bytes bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    sum += i % 2 == 0 ? bytes[i] << 8 : bytes[i];
    sum = (sum & 0xFFFF) + (sum >> 16);
  }
  return static_cast<std::uint16_t>(sum);
}

TEST(Checksum, FollowsTheDefinitionInAnyPieces) {
  Prng prng(61);
  for (int round = 0; round < 3000; ++round) {
    const auto bytes = testing::random_bytes(prng.below(round % 10 == 0 ? 5000 : 300), prng);
    Checksum sum;
    for (Bytes rest = bytes; !rest.empty();) {
      const std::size_t n = 1 + prng.below(static_cast<std::uint32_t>(rest.size()));
      sum.add(rest.first(n));
      rest = rest.subspan(n);
    }
    ASSERT_EQ(sum.sum(), by_definition(bytes));
  }
}

TEST(Checksum, AllOnesDoNotOverflow) {
  const std::vector<std::uint8_t> ones(65536, 0xFF);
  Checksum sum;
  sum.add(ones);
  EXPECT_EQ(sum.sum(), 0xFFFF);
}

TEST(Checksum, TheExampleOfRfc1071) {
  const std::uint8_t bytes[] = {0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7};
  Checksum sum;
  sum.add(bytes);
  EXPECT_EQ(sum.sum(), 0xDDF2);
}

}  // namespace
}  // namespace mrc::wire
