// `mrc storm`: reports that depend on the seeds only, worlds that can be repeated, and refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "tools/run_mrc.h"
#include "tools/storm_campaign.h"

namespace mrc::tools {
namespace {

using ::testing::HasSubstr;
using testing::Outcome;
using testing::run_mrc;
using ::testing::StartsWith;

TEST(StormCommand, AReportDoesNotDependOnThreads) {
  for (const char* kind : {"--fabric", "--json"}) {  // fabrics, and two engines
    const auto run = [&](const char* jobs) {
      return run_mrc({"storm", kind, "--seeds", "1..24", "--jobs", jobs}).out;
    };
    EXPECT_THAT(run("1"), HasSubstr("24"));
    EXPECT_EQ(run("1"), run("3"));
  }
}

TEST(StormCommand, OneWorldIsNotMany) {
  EXPECT_THAT(run_mrc({"storm", "--fabric", "--seeds", "7"}).out, StartsWith("1 world, 0 broken; "));
}

StormKind planted() {
  return {.command = "mrc storm --planted",
          .counts = {{"works", "work"}},
          .timed = true,
          .run = [](std::uint64_t seed, bool again) -> Judged {
            return {seed % 5 == 2 ? "fell over" : "", again && seed == 16, {seed}, 1.0 * (seed % 7)};
          }};
}

Outcome run_planted(unsigned jobs, bool json) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int status = Campaign(planted(), {1, 20}, jobs, json).run();
  std::fflush(stdout);
  return {status, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
}

TEST(StormCommand, TellsBrokenWorldsInTheOrderOfTheirSeeds) {
  const Outcome one = run_planted(1, false), many = run_planted(8, false);
  EXPECT_EQ(one.status, 1);
  EXPECT_EQ(one.out, "20 worlds, 5 broken; 210 works; the slowest took 6 us (seed 6)\n");
  EXPECT_THAT(one.err, HasSubstr("seed 2: fell over\n  replay: mrc storm --planted --seeds 2\nseed 7: "));
  EXPECT_THAT(one.err, HasSubstr("seed 16: the trace differs when repeated"));
  EXPECT_EQ(many.out, one.out);
  EXPECT_EQ(many.err, one.err);
  EXPECT_THAT(run_planted(2, true).out,
              HasSubstr(R"({"seed":2,"why":"fell over","replay":"mrc storm --planted --seeds 2"})"));
}

TEST(StormCommand, AFabricOfASeedIsAScenario) {
  const Outcome shown = run_mrc({"storm", "--fabric", "--seeds", "17", "--toml"});
  ASSERT_EQ(shown.status, 0) << shown.err;
  const std::string file = ::testing::TempDir() + "storm_test.toml";
  std::ofstream(file) << shown.out;
  const Outcome ran = run_mrc({"sim", file});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("fault storm, seed 17"));
  std::remove(file.c_str());
}

TEST(StormCommand, SaysWhatIsWrong) {
  const auto refusal = [](std::vector<std::string> words) {
    words.insert(words.begin(), "storm");
    const Outcome o = run_mrc(words);
    EXPECT_EQ(o.status, 2);
    return o.err;
  };
  EXPECT_THAT(refusal({"--seeds", "9..1"}), HasSubstr("give a range A..B"));
  EXPECT_THAT(refusal({"--seeds", "1..99999999999999999999"}), HasSubstr("give a range A..B"));
  EXPECT_THAT(refusal({"--seeds", "-3..-1"}), HasSubstr("give a range A..B"));
  EXPECT_THAT(refusal({"--fabric", "--toml"}), HasSubstr("give one, such as --seeds 17"));
  EXPECT_THAT(refusal({"--toml", "--seeds", "1"}), HasSubstr("--fabric"));
}

}  // namespace
}  // namespace mrc::tools
