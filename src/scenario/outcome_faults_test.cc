// Runs in which something breaks: what is left of the fabric, and that everybody finds it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "scenario/scenario_test_support.h"

namespace mrc::scenario {
namespace {

using ::testing::HasSubstr;

// MRC-EV-010: of two hosts that say to each other "your plane is deaf", none may answer by a dead one for
// ever.
TEST(Outcome, AnswersFindTheWayWhenAT0LosesAPlanesUplinks) {
  for (const int at : {2, 3}) {
    const Ran ran = run_text(
        "seed = 3\n[topology]\nplanes = 2\nt0 = 2\nt1 = 3\nhosts_per_t0 = 1\n"
        "rate = \"100G\"\ndelay = \"500ns\"\n[limits]\ntime = \"100ms\"\n"
        "[[job]]\nkind = \"pairwise\"\nbytes = 60000\n[[fault]]\nkind = \"down\"\n"
        "targets = [\"p0.t0.0-p0.t1.0\", \"p0.t0.0-p0.t1.1\", \"p0.t0.0-p0.t1.2\"]\n"
        "at = \"" +
        std::to_string(at) + "us\"\n");
    EXPECT_EQ(ran.outcome.unfinished, "") << "struck at " << at << " us";
    EXPECT_LT(ran.outcome.summary.acknowledged_us.max, 5000) << "no timeout of the QP was needed";
  }
}

// MRC-EV-008, MRC-EV-010: with one EV per plane the living one may fall first, because what it carried was
// trimmed and the NACKs went by the dead one; or only the dead one was asked. The QP must find back in time.
TEST(Outcome, AQpSurvivesAsLongAsOnePlaneWorks) {
  struct Case {
    int seed, t1, hosts_per_t0;
    const char *job, *fault, *target, *at;
  };
  for (const Case& c : {Case{10, 1, 4, "permutation", "black_hole", "p1.t0.0", "16us"},
                        Case{120, 1, 4, "all_to_all", "down", "p1.t1.0", "8us"},
                        Case{250, 2, 2, "all_to_all", "black_hole", "h0.p1", "5us"},
                        Case{400, 4, 2, "tree_allreduce", "down", "p1.t0.0", "32us"},
                        Case{674, 1, 4, "all_to_all", "black_hole", "h0.p1", "10us"}}) {
    const Ran ran =
        run_text("seed = " + std::to_string(c.seed) + "\n[topology]\nplanes = 2\nt0 = 2\nt1 = " +
                 std::to_string(c.t1) + "\nhosts_per_t0 = " + std::to_string(c.hosts_per_t0) +
                 "\nrate = \"400G\"\ndelay = \"1us\"\n[limits]\ntime = \"100ms\"\n[[job]]\nkind = \"" +
                 c.job + "\"\nbytes = \"1MB\"\n[[fault]]\nkind = \"" + c.fault + "\"\ntarget = \"" +
                 c.target + "\"\nat = \"" + c.at + "\"\n");
    EXPECT_EQ(ran.outcome.unfinished, "") << "seed " << c.seed;
    EXPECT_LT(ran.outcome.summary.acknowledged_us.max, 5000) << "seed " << c.seed;
  }
}

TEST(Outcome, PhasesFollowThePlanesThatAreLeft) {
  const Ran ran = run_text(kPair + R"(
[[fault]]
kind = "down"
target = "h0.p1"
at = "100us"
[[phase]]
name = "whole"
from = "20us"
to = "100us"
[[phase]]
name = "half"
from = "120us"
)");
  EXPECT_TRUE(ran.outcome.stopped_by_time);
  EXPECT_TRUE(ran.outcome.unfinished.empty()) << "a stream without end has done its work";
  EXPECT_GT(ran.outcome.phases[0].of_line_rate, 0.93);
  EXPECT_NEAR(ran.outcome.phases[1].of_line_rate, ran.outcome.phases[0].of_line_rate / 2, 0.03);
  EXPECT_EQ(ran.outcome.marks.size(), 1u);
}

TEST(Outcome, AMatrixsFailuresSlowTheirLinks) {
  const std::string file = ::testing::TempDir() + "outcome_test.cm";
  const auto with = [&](const std::string& failure) {
    std::ofstream(file) << "Nodes 4\nFailures 1\n" + failure + "\n0->2 id 1 start 0 size 1000000\n";
    const auto document = Document::parse(
        "[topology]\nplanes = 2\nt0 = 2\nt1 = 2\nhosts_per_t0 = 2\n[[job]]\n"
        "kind = \"cm\"\nfile = \"" +
            file + "\"\n",
        "x.toml");
    const auto scenario = document->scenario();
    EXPECT_TRUE(scenario) << scenario.error().what;
    return prepare(*scenario);
  };
  const auto slow = with("failure switch_type TOR switch_id 1 link_id 0");
  ASSERT_TRUE(slow) << slow.error().what;
  std::set<std::string> names;
  for (const sim::Stroke& s : slow->world.strokes) {
    EXPECT_EQ(s.what, sim::Stroke::What::rate);
    EXPECT_EQ(s.amount, 0.25);
    names.insert(slow->topology.name(s.hop.link));
  }
  EXPECT_EQ(names, (std::set<std::string>{"p0.t0.1-p0.t1.0", "p1.t0.1-p1.t1.0"}));
  for (const char* none :
       {"failure switch_type TOR switch_id 1 link_id 2", "failure switch_type TOR switch_id 2",
        "failure switch_type AGG switch_id 0 link_id 0", "failure switch_type CORE switch_id 0"}) {
    const auto refused = with(none);
    ASSERT_FALSE(refused) << none;
    EXPECT_THAT(refused.error().what, HasSubstr("outcome_test.cm:3: a failure at a link"));
  }
  std::remove(file.c_str());
}

}  // namespace
}  // namespace mrc::scenario
