// `mrc sim` as a user meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "tools/run_mrc.h"

namespace mrc::tools::testing {
namespace {

using ::testing::HasSubstr;

const std::string kData = MRC_SOURCE_DIR "/tests/data/htsim/";

TEST(Sim, RunsThePeersFiles) {
  const auto ran =
      run_mrc({"sim", "--cm", kData + "perm_128_2000000.cm", "--topo", kData + "ls_128_400g.topo", "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\"flows\":128,\"failed\":0,\"unfinished\":0"));
}

TEST(Sim, RunsAPatternOnAFabric) {
  const auto ran = run_mrc({"sim", "--pattern", "ring_allreduce", "--planes", "2", "--t0", "2", "--t1", "2",
                            "--hosts-per-t0", "2"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("24 flows, 0 failed"));
}

TEST(Sim, SaysWhatIsWrong) {
  EXPECT_THAT(run_mrc({"sim"}).err, HasSubstr("--pattern"));
  EXPECT_THAT(run_mrc({"sim", "--pattern", "x"}).err, HasSubstr("all_to_all"));
  EXPECT_THAT(run_mrc({"sim", "--pattern", "incast", "--ranks", "1000"}).err, HasSubstr("--ranks"));
  EXPECT_EQ(run_mrc({"sim", "--cm", "/nowhere"}).status, 1);
}

const std::string kScenarios = MRC_SOURCE_DIR "/tests/data/scenario/";

TEST(Sim, RunsAScenario) {
  const std::string flows = ::testing::TempDir() + "sim_test_flows.csv";
  const auto ran = run_mrc({"sim", kScenarios + "quiet.toml", "--json", "--flows", flows});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\"scenario\":\"quiet\""));
  EXPECT_THAT(ran.out, HasSubstr("\"passed\":true"));
  EXPECT_EQ(std::remove(flows.c_str()), 0);
}

TEST(Sim, TellsRefusedScenariosFromMissedExpectations) {
  const std::string quiet = kScenarios + "quiet.toml";
  const std::string flows = ::testing::TempDir() + "sim_test_none.csv";
  const auto refused = run_mrc({"sim", quiet, "--set", "job.0.bites=1", "--flows", flows});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("did you mean 'bytes'?"));
  EXPECT_NE(std::remove(flows.c_str()), 0) << "nothing is written for a scenario that is refused";
  EXPECT_EQ(run_mrc({"sim", quiet, "--planes", "4"}).status, 1);
  EXPECT_EQ(run_mrc({"sim", quiet, "--flows", "/nowhere/x.csv"}).status, 2);
  const auto missed = run_mrc({"sim", quiet, "--set", "expect.0.max=-1"});
  EXPECT_EQ(missed.status, 3);
  EXPECT_THAT(missed.err, HasSubstr("unfinished is 0, expected at most -1"));
  const auto stopped = run_mrc({"sim", quiet, "--set", "limits.time=5us"});
  EXPECT_EQ(stopped.status, 1);
  EXPECT_THAT(stopped.err, HasSubstr("stream 0 delivered"));
}

TEST(Sim, SweepsAGrid) {
  const std::string quiet = kScenarios + "quiet.toml";
  const std::string grid = "sweep={\"transport.evs\"=[2,4],\"job.0.bytes\"=[1000,2000]}";
  const auto swept = run_mrc({"sim", quiet, "--set", grid, "--processes", "2"});
  EXPECT_EQ(swept.status, 0) << swept.err;
  EXPECT_THAT(swept.out, HasSubstr("bytes 2000, evs 4:"));
  const auto refused = run_mrc({"sim", quiet, "--set", "sweep={\"transport.evs\"=[2,0]}"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("transport.evs must be a whole number, 1 to 1024"));
  EXPECT_EQ(refused.out, "") << "no point runs when one of them can't";
  EXPECT_EQ(run_mrc({"sim", quiet, "--set", grid, "--flows", "f.csv"}).status, 2);
}

TEST(Sim, ComparesWithThePublishedResults) {
  const auto ran = run_mrc({"sim", "paper", "--quick", "--only", "R1", "--no-baseline"});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("96 % of line rate"));
  EXPECT_THAT(run_mrc({"sim", "paper", "--only", "R99"}).err, HasSubstr("R1 to R15"));
}

}  // namespace
}  // namespace mrc::tools::testing
