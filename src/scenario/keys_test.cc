// Keys of training jobs, of the ACK timeout and of sizes: each one is heard, and nonsense is refused by its
// name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_test_support.h"

namespace mrc::scenario {
namespace {

using ::testing::HasSubstr;

const std::string kFabric = R"([topology]
planes = 2
t0 = 2
t1 = 2
hosts_per_t0 = 4
)";
const std::string kTraining = kFabric + "[[job]]\nkind = \"training\"\n";

TEST(Effects, ASettingThatTheTransportDoesNotHearIsRefusedByItsLine) {
  const std::string job = kFabric + "[[job]]\nkind = \"permutation\"\n";
  EXPECT_THAT(refusal(job + "[transport.roce]\nqps = 2\n"),
              HasSubstr("x.toml:8: transport.roce has no effect on MRC; say transport.protocol"));
  const std::string roce = job + "[transport]\nprotocol = \"roce\"\n";
  EXPECT_EQ(refusal(roce + "[transport.roce]\nqps = 2\n"), "");
  EXPECT_THAT(refusal(roce + "spray_unit = 2\n"),
              HasSubstr("x.toml:10: transport.spray_unit has no effect on RoCEv2"));
  EXPECT_THAT(refusal(roce + "[queues]\ntrim = false\n"), HasSubstr("x.toml:11: queues.trim has no effect"));
}

TEST(Effects, WhatABaselineHearsIsOfUse) {
  const std::string job = kFabric + "[[job]]\nkind = \"permutation\"\n";
  const std::string both =
      job + "[transport]\nspray_unit = 2\nroce.qps = 2\n[baseline]\n\"transport.protocol\" = \"roce\"\n";
  EXPECT_EQ(refusal(both), "");
  auto document = Document::parse(both, "x.toml");
  ASSERT_TRUE(document->apply("baseline"));
  EXPECT_TRUE(document->scenario());
}

TEST(TrainingKeys, SayWhatTheyMean) {
  const auto s = read_text(kTraining + R"(tp = 2
pp = 3
dp = 4
ep = 2
microbatches = 5
iterations = 6
activation_bytes = "1MB"
tensor_bytes = "64K"
expert_bytes = 7
gradient_bytes = "1.5MiB"
expert_skew = 30
expert_window = 9
forward = "10us"
gap = "1us"
seed = 11
)");
  ASSERT_TRUE(s) << s.error().what;
  const sim::Training& t = s->jobs.at(0).training;
  EXPECT_EQ(t.tp, 2u);
  EXPECT_EQ(t.pp, 3u);
  EXPECT_EQ(t.dp, 4u);
  EXPECT_EQ(t.ep, 2u);
  EXPECT_EQ(t.microbatches, 5u);
  EXPECT_EQ(t.iterations, 6u);
  EXPECT_EQ(t.activation_bytes, 1'000'000u);
  EXPECT_EQ(t.tensor_bytes, 65536u);
  EXPECT_EQ(t.expert_bytes, 7u);
  EXPECT_EQ(t.gradient_bytes, 3u << 19);
  EXPECT_EQ(t.expert_skew, 30u);
  EXPECT_EQ(t.expert_window, 9u);
  EXPECT_EQ(t.forward, 10'000'000);
  EXPECT_EQ(t.gap, 1'000'000);
  EXPECT_EQ(t.seed, 11u);
}

TEST(TrainingKeys, NonsenseIsRefusedByName) {
  const struct {
    const char *added, *sentence;
  } bads[] = {{"tp = 0", "job.0.tp must be a whole number, 1 to"},
              {"dp = 4\nep = 3\ngradient_bytes = 1", "ep must divide dp"},
              {"", "tp x pp x dp is a single rank"},
              {"dp = 16\ngradient_bytes = 1", "needs host 15, and the fabric has hosts 0 to 7"},
              {"dp = 2\nmicrobatches = 0", "job.0.microbatches must be a whole number, 1 to"},
              {"dp = 2\nexpert_skew = 101", "job.0.expert_skew must be a whole number, 0 to 100"},
              {"dp = 2\nexpert_window = 0", "job.0.expert_window must be a whole number, 1 to"},
              {"dp = 2\ngradient_bytes = \"lots\"", "job.0.gradient_bytes must be a number of bytes, 0 to"},
              {"dp = 2\nforward = 5", "job.0.forward \"5\" is not understood; write it as"},
              {"dp = 2\ngradient_bytes = 1\nbytes = 5", "job.0.bytes is not a setting"},
              {"dp = 2\ngradient_bytes = 1\nranks = 4", "job.0.ranks must be tp x pp x dp, which is 2"},
              {"dp = 2\ntensor_bytes = 1", "moves nothing: give a group of several ranks its bytes"}};
  for (const auto& [added, sentence] : bads)
    EXPECT_THAT(refusal(kTraining + added), HasSubstr(sentence)) << added;
}

/// What a step of two stages, two replicas and two shards moves, of one kind of traffic.
std::uint64_t moved(const std::string& keys) {
  const Outcome done =
      run_text(kTraining + "tp = 2\npp = 2\ndp = 2\nep = 2\nmicrobatches = 2\n" + keys).outcome;
  EXPECT_EQ(done.summary.unfinished, 0u) << keys;
  return done.summary.payload_bytes;
}

// Each pass goes forward and back: 8 ranks, 2 microbatches, 2 passes.
TEST(TrainingKeys, EachKindOfTrafficIsItsOwn) {
  EXPECT_EQ(moved("activation_bytes = 8000"), 8000u * 4 * 2 * 2)
      << "from each of four ranks of a stage to the next";
  EXPECT_EQ(moved("tensor_bytes = 8000"), 8000u / 2 * 2 * 8 * 2 * 2) << "a ring of two: two rounds of half";
  EXPECT_EQ(moved("gradient_bytes = 8000"), 8000u / 2 * 2 * 8) << "once per iteration";
  EXPECT_EQ(moved("gradient_bytes = 8000\niterations = 3"), 3 * 8000u / 2 * 2 * 8);
  EXPECT_EQ(moved("gradient_bytes = 8000\nactivation_bytes = 8000"),
            moved("gradient_bytes = 8000") + moved("activation_bytes = 8000"));
  EXPECT_GT(moved("expert_bytes = 8000"), 0u);
}

TEST(TrainingKeys, ComputingTakesTime) {
  const auto ends = [](const std::string& keys) {
    return run_text(kTraining + "pp = 2\nmicrobatches = 2\nactivation_bytes = 8000\n" + keys).outcome.ended;
  };
  // Forward one, back two, of two microbatches: the second stage can't be done before.
  EXPECT_GE(ends("forward = \"10us\""), ends("") + 6 * 10'000'000);
  EXPECT_GE(ends("iterations = 2\ngap = \"50us\""), ends("iterations = 2") + 50'000'000);
}

TEST(TransportKeys, TheTimeoutHasALimit) {
  const auto transport = [](const std::string& keys) {
    return kFabric + "[transport]\n" + keys + "\n[[job]]\nkind = \"permutation\"\n";
  };
  const auto longest = read_text(transport("timeout = 24"));
  ASSERT_TRUE(longest) << longest.error().what;
  EXPECT_EQ(longest->world.hosts.requestor.timeout, 24);
  EXPECT_EQ(refusal(transport("timeout = 0")), "");
  EXPECT_THAT(refusal(transport("timeout = 25")),
              HasSubstr("x.toml:7: transport.timeout must be a whole number, 0 to 24"));
  EXPECT_THAT(refusal(transport("timeout = \"10ms\"")),
              HasSubstr("transport.timeout must be a whole number"));
  EXPECT_THAT(refusal(transport("linear_retries = 8")), HasSubstr("0 to 7"));
}

TEST(TransportKeys, ALateTailIsRepeatedAndCounted) {
  const auto repeats = [](const std::string& eighths) {
    return run_text(kFabric + "[transport]\ntail_eighths = " + eighths + R"(
[[job]]
kind = "permutation"
bytes = "100kB"
iterations = 4
[[fault]]
kind = "black_hole"
target = "p0.t0.0-p0.t1.0"
)")
        .outcome.summary.repeats;
  };
  EXPECT_GT(repeats("8"), 0u);
  EXPECT_EQ(repeats("0"), 0u);
}

TEST(TransportKeys, EvsByCapacityLoadASlowSpineByWhatItCarries) {
  const auto slowest = [](const std::string& by) {
    return run_text(R"([topology]
planes = 1
t0 = 4
t1 = 4
hosts_per_t0 = 4
[transport]
skip_on_mark = false
evs_by = ")" + by + R"("
[[job]]
kind = "permutation"
bytes = "1MB"
[[fault]]
kind = "slow"
target = "p0.t1.2"
amount = 0.25
)")
        .outcome.summary.max_over_bound;
  };
  EXPECT_LT(slowest("capacity"), 0.95 * slowest("path"));
  EXPECT_THAT(refusal(kFabric + "[transport]\nevs_by = \"luck\"\n[[job]]\nkind = \"permutation\"\n"),
              HasSubstr("transport.evs_by"));
}

TEST(TransportKeys, AShorterTargetDelayMarksFewerPackets) {
  const auto with = [](const std::string& target) {
    return R"([topology]
planes = 1
t0 = 2
t1 = 2
hosts_per_t0 = 4
[transport]
target_delay = ")" +
           target + "\"\n[[job]]\nkind = \"permutation\"\nbytes = \"4MB\"\n";
  };
  EXPECT_LT(2 * run_text(with("2us")).outcome.summary.marks, run_text(with("20us")).outcome.summary.marks);
  EXPECT_THAT(refusal(with("0us")), HasSubstr("transport.target_delay must be longer than 0"));
  EXPECT_THAT(refusal(with("2s")), HasSubstr("transport.target_delay must be at most 1s"));
}

TEST(TransportKeys, SizesHaveUnits) {
  const auto s = read_text(kFabric +
                           "[transport]\nsack_bytes = \"16K\"\nwindow = \"96K\"\nwrite_bytes = \"1M\"\n"
                           "[[job]]\nkind = \"permutation\"\nbytes = \"64K\"\n");
  ASSERT_TRUE(s) << s.error().what;
  EXPECT_EQ(s->world.hosts.responder.sack_bytes, 16384u);
  EXPECT_EQ(s->world.hosts.window, 96u << 10);
  EXPECT_EQ(s->world.hosts.write_bytes, 1u << 20);
  EXPECT_EQ(s->jobs.at(0).pattern.bytes, 65536u);
  EXPECT_THAT(refusal(kFabric + "[transport]\nwindow = \"2G\"\n[[job]]\nkind = \"permutation\"\n"),
              HasSubstr("transport.window must be a number of bytes, 1 to 1073741824, written as"));
}

}  // namespace
}  // namespace mrc::scenario
