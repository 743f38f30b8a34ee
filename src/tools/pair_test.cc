// `mrc pair`: a transfer over a bad network completes, and its capture tells what happened.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/run_mrc.h"

namespace mrc::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::Outcome;
using testing::run_mrc;

TEST(PairCommand, CompletesOverABadNetwork) {
  const Outcome outcome =
      run_mrc({"pair", "--loss", "0.02", "--trim", "0.02", "--mark", "0.05", "--jitter", "3", "--seed", "7"});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("every byte placed exactly once: yes"));
}

TEST(PairCommand, OneSeedIsOneRun) {
  const auto run = [](const char* seed) {
    return run_mrc({"pair", "--loss", "0.05", "--seed", seed, "--json"}).out;
  };
  EXPECT_EQ(run("3"), run("3"));
  EXPECT_NE(run("3"), run("4"));
}

TEST(PairCommand, ItsCaptureIsWellFormedAndTellsTheRepairs) {
  const std::string file = ::testing::TempDir() + "pair_command.pcap";
  ASSERT_EQ(run_mrc({"pair", "--loss", "0.02", "--trim", "0.02", "--capture", file}).status, 0);
  EXPECT_THAT(run_mrc({"dump", file}).err, HasSubstr(" 0 of them not well formed; 0 frames were not MRC"));
  const std::string story = run_mrc({"dump", file, "--follow", "0x101"}).out;
  EXPECT_THAT(story, HasSubstr("after its NACK"));
  EXPECT_THAT(story, HasSubstr("repaired without a NACK"));
  EXPECT_THAT(story, HasSubstr(" 0 open"));
  EXPECT_THAT(story, HasSubstr("first sending unseen 0)"));
  std::remove(file.c_str());
}

TEST(PairCommand, RefusesWhatItCannotHold) {
  EXPECT_THAT(run_mrc({"pair", "--writes", "1048576", "--size", "1048576"}).err, HasSubstr("at most 1 GiB"));
  EXPECT_EQ(run_mrc({"pair", "--loss", "2"}).status, 2);
  EXPECT_THAT(run_mrc({"pair", "--capture", "/nonexistent/x.pcap"}).err, HasSubstr("/nonexistent/x.pcap"));
  EXPECT_THAT(run_mrc({"pair", "--ports", "5", "--evs", "256"}).err, HasSubstr("at most 1024"));
  const Outcome full = run_mrc({"pair", "--writes", "64", "--capture", "/dev/full"});
  EXPECT_EQ(full.status, 1);
  EXPECT_THAT(full.err, HasSubstr("cannot write the capture"));
}

}  // namespace
}  // namespace mrc::tools
