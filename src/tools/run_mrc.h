// For tests: runs the command in this process and keeps what it says.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tools/commands.h"

namespace mrc::tools::testing {

struct Outcome {
  int status;
  std::string out, err;
};

inline Outcome run_mrc(const std::vector<std::string>& args) {
  std::vector<const char*> argv = {"mrc"};
  for (const std::string& a : args) argv.push_back(a.c_str());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int status = run_command(static_cast<int>(argv.size()), argv.data());
  std::fflush(stdout);
  return {status, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
}

}  // namespace mrc::tools::testing
