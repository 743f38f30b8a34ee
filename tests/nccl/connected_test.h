// For tests of transfers: a sender and a receiver that are connected, for each version of the table.
#pragma once

#include "nccl/versions.h"

namespace mrc::nccl::testing {

struct ConnectedTest : PluginTest {
  void SetUp() override {
    PluginTest::SetUp();
    if (HasFatalFailure()) return;  // a plugin without this version
    ASSERT_TRUE(connect_ends(*table, ends)) << logged_warnings();
  }
  void TearDown() override {
    if (table != nullptr) close_ends(*table, ends);
  }
  static bool is(const std::uint8_t* data, std::uint8_t seed, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      if (data[i] != Memory::expected(seed, i)) return false;
    }
    return true;
  }
  Ends ends;
};

}  // namespace mrc::nccl::testing
