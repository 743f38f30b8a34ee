// What a collective takes for right: one rank or two, whose memory the test spoils.
#include "collective/operation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <thread>

namespace mrc::collective {
namespace {

constexpr std::size_t kBytes = 400;

Result<std::unique_ptr<Mesh>> join(std::uint32_t rank, std::uint32_t ranks, std::uint16_t port) {
  MeshOptions options;
  options.rank = rank;
  options.addresses.assign(ranks, "127.0.0.1");
  options.tcp_port = port;
  options.device = "lo/127.0.0.1";
  options.bytes = Operation::memory_for(kBytes, ranks);
  return Mesh::join(options);
}

struct Kinds : ::testing::TestWithParam<Kind> {
  Kinds() { ::setenv("MRC_UDP_PORT", "14823", 1); }
};
struct Alone : Kinds {
  void SetUp() override {
    auto joined = join(0, 1, 18760);
    ASSERT_TRUE(joined) << joined.error().what;
    mesh = *std::move(joined);
  }
  std::unique_ptr<Mesh> mesh;
};
INSTANTIATE_TEST_SUITE_P(All, Kinds, ::testing::ValuesIn(kKinds),
                         [](const auto& kind) { return std::string(name_of(kind.param)); });
INSTANTIATE_TEST_SUITE_P(All, Alone, ::testing::ValuesIn(kKinds),
                         [](const auto& kind) { return std::string(name_of(kind.param)); });

TEST_P(Alone, EveryByteCounts) {
  Operation operation(*mesh, GetParam(), kBytes);
  for (int run = 0; run < 3; ++run) {
    operation.fill();
    ASSERT_TRUE(operation.run());
    EXPECT_EQ(operation.wrong(), 0u);
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < Operation::memory_for(kBytes, 1); ++i) {
      mesh->memory()[i] ^= std::byte{0x10};
      found += operation.wrong();
      mesh->memory()[i] ^= std::byte{0x10};
    }
    EXPECT_EQ(found, kBytes) << "one value for each byte of the result, and no other";
  }
}

// The same values come again and again: what is left of one run must not pass for what the next one brought.
TEST_P(Kinds, NothingThatCameBeforeCanBeTakenForTheResult) {
  Result<std::unique_ptr<Mesh>> second = Error{};
  std::thread other([&] { second = join(1, 2, 18762); });
  auto first = join(0, 2, 18762);
  other.join();
  ASSERT_TRUE(first && second);
  Operation mine(**first, GetParam(), kBytes), theirs(**second, GetParam(), kBytes);
  for (int run = 0; run < 2; ++run) {
    mine.fill();
    theirs.fill();
    std::thread there([&] { EXPECT_TRUE(theirs.run()); });
    EXPECT_TRUE(mine.run());
    there.join();
    EXPECT_EQ(mine.wrong() + theirs.wrong(), 0u);
  }
  mine.fill();
  EXPECT_GT(mine.wrong(), 0u) << "nothing has come";
  const auto* values = reinterpret_cast<const float*>((*first)->memory());
  const std::size_t all = 5 * kBytes / sizeof(float);
  const auto left = std::count_if(values + kBytes / sizeof(float), values + all,
                                  [](float v) { return !std::isnan(v) && v != 0; });
  EXPECT_EQ(left, 0) << "values of the runs before";
  std::thread bye([&] { *second = nullptr; });
  *first = nullptr;
  bye.join();
}

}  // namespace
}  // namespace mrc::collective
