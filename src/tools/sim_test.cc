// `mrc sim` as a user meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

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
  EXPECT_THAT(run_mrc({"sim", "--pattern", "incast", "--ranks", "1000"}).err, HasSubstr("lower its ranks"));
  EXPECT_EQ(run_mrc({"sim", "--cm", "/nowhere"}).status, 2);
}

/// A small run by options, and what else is said.
Outcome by_options(const std::vector<std::string>& more) {
  std::vector<std::string> all = {"sim",  "--pattern", "permutation",    "--t0", "2",
                                  "--t1", "2",         "--hosts-per-t0", "2"};
  all.insert(all.end(), more.begin(), more.end());
  return run_mrc(all);
}

TEST(Sim, OptionsAreCheckedAsAScenarioIs) {
  const std::string twice = ::testing::TempDir() + "sim_test_twice";
  const std::pair<std::vector<std::string>, std::string> wrong[] = {
      {{"--pmtu", "0"}, "--pmtu 0: transport.pmtu must be"},
      {{"--pmtu", "9000"}, "must be 256, 512, 1024, 2048 or 4096"},
      {{"--rate", "0G"}, "host links need a rate above 0"},
      {{"--set", "fault=[{kind='down',target='p0',at=10}]"}, "write it as \"500ns\", \"1us\""},
      {{"--set", "expect=[{figure='goodput_gpbs',min=1}]"}, "did you mean 'goodput_gbps'?"},
      {{"--set", "queues.control_bdp=0.001"}, "raise queues.control_bdp"},
      {{"--no-pfc"}, "--no-pfc has no effect on MRC; add --transport roce"},
      {{"--roce-qps", "2"}, "--roce-qps 2 has no effect on MRC"},
      {{"--transport", "roce", "--evs", "4"}, "--evs 4 has no effect on RoCEv2"},
      {{"--transport", "roce", "--no-trim"}, "--no-trim has no effect on RoCEv2"},
      {{"--file", "/tmp"}, "/tmp: is a directory"},
      {{"--record", twice, "--flows", twice}, "its own file"},
      {{"--pmtu", "65535"}, "--pmtu 65535: transport.pmtu must be"},
      {{"--evs", "0"}, "--evs 0: transport.evs must be a whole number, 1 to 1024"},
      {{"--queue-bdp", "nan"}, "queues.data_bdp must be a number"},
      {{"--ecn-low", "2"}, "queues.ecn_low must be a number, 0 to 1"},
      {{"--trim-bytes", "165"}, "queues.trim_bytes must be a number of bytes, 166 to 4096"},
      {{"--spray-unit", "0"}, "transport.spray_unit must be"},
      {{"--threads", "0"}, "threads must be a whole number"},
      {{"--delay", "0ns"}, "need a delay"},
      {{"--rate", "0"}, "write it as \"100G\""},
      {{"--bytes", "-5"}, "job.0.bytes must be a number of bytes"},
      {{"--transport", "tcp"}, "none of mrc, roce"},
      {{"--trace", "99"}, "hosts 0 to 3"},
  };
  for (const auto& [said, why] : wrong) {
    const auto ran = by_options(said);
    EXPECT_EQ(ran.status, 2) << said[0] << " " << said.back() << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(why));
    EXPECT_EQ(ran.out, "");
  }
}

TEST(Sim, NoOptionIsIgnored) {
  const std::string flows = ::testing::TempDir() + "sim_test_options.csv";
  EXPECT_EQ(by_options({"--bytes", "10kB", "--flows", flows}).status, 0);
  EXPECT_EQ(std::remove(flows.c_str()), 0) << "--flows means the same with and without a scenario";
  const std::string topo = kData + "ls_128_400g.topo";
  const auto planes = run_mrc({"sim", "--topo", topo, "--planes", "2", "--rate", "100G", "--pattern",
                               "pairwise", "--ranks", "2", "--bytes", "1MB", "--json"});
  EXPECT_THAT(planes.out, HasSubstr("\"plane\":1")) << planes.err;
  EXPECT_THAT(planes.out, HasSubstr("\"of_line_rate\":0.9")) << "of two planes at 100G, not at 400G";
  EXPECT_THAT(run_mrc({"sim", "--cm", kData + "perm_128_2000000.cm", "--topo", topo, "--bytes", "77"}).err,
              HasSubstr("--bytes 77: job.0.bytes is not a setting"));
}

const std::string kScenarios = MRC_SOURCE_DIR "/tests/data/scenario/";

TEST(Sim, AFileThatCanNotBeWrittenKeepsNothingFromTheRest) {
  const std::string links = ::testing::TempDir() + "mrc_links.csv";
  std::remove(links.c_str());
  const auto ran = by_options({"--flows", "/dev/full", "--links", links});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("4 flows, 0 failed"));
  EXPECT_THAT(ran.err, HasSubstr("/dev/full: can not be written"));
  EXPECT_EQ(std::remove(links.c_str()), 0);
}

TEST(Sim, TracesWhatHappensAndNothingAfterTheEnd) {
  const auto ran = by_options({"--bytes", "10kB", "--trace", "0"});
  EXPECT_THAT(ran.err, HasSubstr("sent psn 0"));
  EXPECT_THAT(ran.err, ::testing::Not(HasSubstr("-> ERR")));
}

TEST(Sim, RunsAScenario) {
  const std::string flows = ::testing::TempDir() + "sim_test_flows.csv";
  const auto ran = run_mrc({"sim", kScenarios + "quiet.toml", "--json", "--flows", flows});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\"scenario\":\"quiet\""));
  EXPECT_THAT(ran.out, HasSubstr("\"passed\":true"));
  EXPECT_EQ(std::remove(flows.c_str()), 0);
}

TEST(Sim, OneOfManyProcessesRefusesAloud) {
  setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  for (const auto& [rank, said] : {std::pair("0", true), std::pair("1", false)}) {
    setenv("OMPI_COMM_WORLD_RANK", rank, 1);
    const auto ran = by_options({"--evs", "0"});
    EXPECT_EQ(ran.status, 2);
    EXPECT_EQ(!ran.err.empty(), said) << "rank " << rank << ": " << ran.err;
  }
  unsetenv("OMPI_COMM_WORLD_SIZE");
  unsetenv("OMPI_COMM_WORLD_RANK");
}

TEST(Sim, EachChangeHasItsOwnSet) {
  const std::string quiet = kScenarios + "quiet.toml";
  const auto two = run_mrc({"sim", "--set", "seed=7", "--set", "name=both", quiet, "--json"});
  EXPECT_THAT(two.out, HasSubstr("\"scenario\":\"both\",\"seed\":7")) << two.err;
  EXPECT_EQ(run_mrc({"sim", quiet, "--set", "seed=7", "name=both"}).status, 2);
  EXPECT_THAT(run_mrc({"sim", "--help"}).out, HasSubstr("--set PATH=VALUE  "));
}

TEST(Sim, TellsRefusedScenariosFromMissedExpectations) {
  const std::string quiet = kScenarios + "quiet.toml";
  const std::string flows = ::testing::TempDir() + "sim_test_none.csv";
  const auto refused = run_mrc({"sim", quiet, "--set", "job.0.bites=1", "--flows", flows});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("did you mean 'bytes'?"));
  EXPECT_NE(std::remove(flows.c_str()), 0) << "nothing is written for a scenario that is refused";
  EXPECT_EQ(run_mrc({"sim", quiet, "--planes", "4"}).status, 2);
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
  const std::string file = ::testing::TempDir() + "sim_test_sweep.toml";
  std::ofstream(file) << "[topology]\n[[job]]\nkind = 'permutation'\n[sweep]\n'transport.evs' = [2,\n 0]\n";
  EXPECT_THAT(run_mrc({"sim", file}).err, HasSubstr("sim_test_sweep.toml:6: sweep of transport.evs = 0: "));
  std::remove(file.c_str());
  EXPECT_EQ(run_mrc({"sim", quiet, "--set", grid, "--flows", "f.csv"}).status, 2);
  EXPECT_THAT(run_mrc({"sim", quiet, "--set", grid, "--record", "r"}).err, HasSubstr("a sweep has many"));
  EXPECT_THAT(run_mrc({"sim", quiet, "--table", "t.csv"}).err, HasSubstr("no [sweep]"));
  EXPECT_THAT(run_mrc({"sim", quiet, "--flows", "f.csv", "--links", "f.csv"}).err, HasSubstr("its own file"));
}

TEST(Sim, ComparesWithThePublishedResults) {
  const auto ran = run_mrc({"sim", "paper", "--quick", "--only", "R1", "--no-baseline"});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("96 % of line rate"));
  EXPECT_THAT(run_mrc({"sim", "paper", "--only", "R99"}).err, HasSubstr("R1 to R15"));
}

}  // namespace
}  // namespace mrc::tools::testing
