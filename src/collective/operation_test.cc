// What a collective takes for right: a rank alone, whose memory the test spoils.
#include "collective/operation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace mrc::collective {
namespace {

constexpr std::size_t kBytes = 4000;

struct Alone : ::testing::TestWithParam<Kind> {
  void SetUp() override {
    ::setenv("MRC_UDP_PORT", "14823", 1);
    MeshOptions options;
    options.addresses = {"127.0.0.1"};
    options.tcp_port = 18760;
    options.device = "lo/127.0.0.1";
    options.bytes = Operation::memory_for(kBytes, 1);
    auto joined = Mesh::join(options);
    ASSERT_TRUE(joined) << joined.error().what;
    mesh = *std::move(joined);
  }
  std::unique_ptr<Mesh> mesh;
};
INSTANTIATE_TEST_SUITE_P(Kinds, Alone, ::testing::ValuesIn(kKinds),
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
TEST_P(Alone, NothingThatCameBeforeCanBeTakenForTheResult) {
  Operation operation(*mesh, GetParam(), kBytes);
  for (int run = 0; run < 2; ++run) {
    operation.fill();
    ASSERT_TRUE(operation.run());
  }
  operation.fill();
  const auto* values = reinterpret_cast<const float*>(mesh->memory());
  constexpr std::size_t kCount = kBytes / sizeof(float);
  for (const std::size_t area : {1 * kCount, 3 * kCount}) {
    EXPECT_TRUE(std::all_of(values + area, values + area + kCount, [](float v) { return std::isnan(v); }));
  }
  if (GetParam() == Kind::all_to_all) {
    EXPECT_EQ(operation.wrong(), kCount);
  }
}

}  // namespace
}  // namespace mrc::collective
