// Work in processes: results in order, and a crash is an error of one.
#include "tools/process_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

#include "tools/interruption.h"

namespace mrc::tools {
namespace {

using ::testing::HasSubstr;

TEST(ProcessPool, GathersInOrder) {
  std::vector<std::size_t> ended;
  const auto pieces = run_in_processes(
      9, 3, [](std::size_t i) { return std::string(i * 50'000, static_cast<char>('a' + i)); },
      [&](std::size_t i) { ended.push_back(i); });
  ASSERT_EQ(pieces.size(), 9u);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(pieces[i].text, std::string(i * 50'000, static_cast<char>('a' + i)));
    EXPECT_EQ(pieces[i].error, "");
  }
  EXPECT_EQ(ended.size(), 9u);
}

TEST(ProcessPool, OutlivesACrash) {
  const auto pieces = run_in_processes(3, 2, [](std::size_t i) -> std::string {
    if (i == 1) std::raise(SIGKILL);
    if (i == 2) throw std::runtime_error("no");
    return "fine";
  });
  EXPECT_EQ(pieces[0].text, "fine");
  EXPECT_THAT(pieces[1].error, HasSubstr("signal 9"));
  EXPECT_THAT(pieces[2].error, HasSubstr("failed"));
}

TEST(ProcessPool, EndsItsWorkersWhenInterrupted) {
  heed_interruption();
  std::size_t ended = 0;
  const auto pieces = run_in_processes(
      4, 2,
      [](std::size_t i) -> std::string {
        if (i > 0) pause();  // for ever
        return "fine";
      },
      [&](std::size_t) {
        ++ended;
        std::raise(SIGTERM);
      });
  EXPECT_EQ(interrupted_status(), 128 + SIGTERM);
  leave_interruption();
  EXPECT_EQ(ended, 1u);
  EXPECT_EQ(pieces[0].text, "fine") << "what has ended is kept";
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(pieces[i].error, "interrupted");
}

TEST(ProcessPool, DoesNothingForNothing) { EXPECT_TRUE(run_in_processes(0, 2, {}).empty()); }

}  // namespace
}  // namespace mrc::tools
