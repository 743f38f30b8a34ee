#include "lib/progress.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace mrc::lib {
namespace {

/// How often the thread of that name went to sleep so far.
long sleeps_of(const std::string& name) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string comm, word;
    std::ifstream(task.path() / "comm") >> comm;
    if (comm != name) continue;
    std::ifstream status(task.path() / "status");
    while (status >> word) {
      if (word == "voluntary_ctxt_switches:" && status >> word) return std::stol(word);
    }
  }
  return -1;
}

class ProgressTest : public ::testing::Test {
 protected:
  std::atomic<int> turns = 0;
  Progress progress{{.turn =
                         [this](Time) {
                           ++turns;
                           return false;
                         },
                     .next_timeout = [] { return kNever; },
                     .descriptors = [](auto&, auto&) {}},
                    {.spin = 10us, .aside = 500us}};

  void poll_for(Duration d) {
    for (const Time end = steady_now() + d; steady_now() < end;) progress.note_poll(steady_now());
  }
};

/// Every look costs the application some microseconds of its core.
TEST_F(ProgressTest, LooksAfterASteadyApplicationLessAndLess) {
  progress.note_poll(steady_now());
  ASSERT_TRUE(progress.start());
  poll_for(100ms);
  const long before = sleeps_of("mrc-progress");
  ASSERT_GE(before, 0);
  poll_for(400ms);
  EXPECT_LE(sleeps_of("mrc-progress") - before, 200) << "every 500 us would be 800";
  EXPECT_GE(sleeps_of("mrc-progress") - before, 1);
}

TEST_F(ProgressTest, TakesOverWhenTheApplicationStops) {
  progress.note_poll(steady_now());
  ASSERT_TRUE(progress.start());
  poll_for(100ms);
  const int before = turns;
  for (const Time end = steady_now() + 10s; turns == before && steady_now() < end;) std::this_thread::yield();
  EXPECT_GT(turns, before);
}

}  // namespace
}  // namespace mrc::lib
