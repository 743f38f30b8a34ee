// A test suite for each version of the table.
#pragma once

#include <gtest/gtest.h>

#include "nccl/harness.h"

namespace mrc::nccl::testing {

struct PluginTest : ::testing::TestWithParam<int> {
  PluginTest() : table(start_plugin(GetParam())) { clear_log(); }
  void SetUp() override { ASSERT_NE(table, nullptr) << logged_warnings(); }
  std::unique_ptr<Table> table;
};

inline std::string version_name(const ::testing::TestParamInfo<int>& info) {
  return "v" + std::to_string(info.param);
}
#define MRC_ALL_VERSIONS(Suite) \
  INSTANTIATE_TEST_SUITE_P(Abi, Suite, ::testing::Range(6, 13), ::mrc::nccl::testing::version_name)

}  // namespace mrc::nccl::testing
