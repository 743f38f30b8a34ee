// Why a run did not do all of its work: each cause has its own sentence, and each job is named once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_test_support.h"

namespace mrc::scenario {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kTwoJobs = R"([topology]
planes = 2
t0 = 2
t1 = 2
hosts_per_t0 = 2
[[job]]
name = "a2a"
kind = "all_to_all"
bytes = "1MB"
[[job]]
name = "later"
kind = "permutation"
start = "1ms"
)";

TEST(Unfinished, TheTimeLimit) {
  const Outcome o = run_text(kTwoJobs + "[limits]\ntime = \"20us\"\n").outcome;
  EXPECT_EQ(o.unfinished,
            "stopped by limits.time at 20 us: raise it or leave it out; "
            "job 'a2a': 4 of 4 ranks did not finish, the first is rank 0, in its step 2; "
            "job 'later': 4 of 4 ranks did not finish, the first is rank 0, which had not started");
  EXPECT_EQ(run_text(kTwoJobs).outcome.unfinished, "");
}

TEST(Unfinished, AStreamWithoutEndThatDeliversNothing) {
  const std::string dead = R"(
[[fault]]
kind = "down"
target = "h0.p0"
at = "0us"
[[fault]]
kind = "down"
target = "h0.p1"
at = "0us"
)";
  EXPECT_THAT(run_text(kPair + dead).outcome.unfinished, HasSubstr("stream 0 delivered nothing"));
  EXPECT_EQ(run_text(kPair).outcome.unfinished, "");
}

TEST(Unfinished, QpsThatGaveUp) {
  const Outcome o = run_text(kTwoJobs + R"([transport]
timeout = 4
[[fault]]
kind = "down"
targets = ["p0", "p1"]
at = "5us"
)")
                        .outcome;
  EXPECT_FALSE(o.stopped_by_time);
  EXPECT_THAT(o.unfinished, StartsWith(std::to_string(o.summary.failed) +
                                       " messages failed: QPs spent all their retries; job 'a2a': 4 of 4"));
}

TEST(Unfinished, WhoeverWatches) {
  for (const auto& [stop, why] : {std::pair(Stop::interrupted, "interrupted at "),
                                  std::pair(Stop::wall_time, "stopped by limits.wall at ")}) {
    const auto s = read_text(kTwoJobs);
    auto prepared = prepare(*s);
    const Outcome o =
        run(*s, *prepared, {}, [&](const sim::Progress& p) { return p.now > 0 ? stop : Stop::no; });
    EXPECT_TRUE(o.stopped_by_time);
    EXPECT_THAT(o.unfinished, StartsWith(why));
    EXPECT_THAT(o.unfinished, HasSubstr(" us; job 'a2a': "));
  }
}

}  // namespace
}  // namespace mrc::scenario
