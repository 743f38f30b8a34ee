// A scenario's run: figures, expectations, files of rows; the same on any number of threads. Runs in which
// something breaks: outcome_faults_test.cc.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "scenario/csv.h"
#include "scenario/figures.h"
#include "scenario/files.h"
#include "scenario/scenario_test_support.h"

namespace mrc::scenario {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

const std::string kGolden = MRC_SOURCE_DIR "/tests/data/scenario/";

std::string file_text(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(Series, GrowsCoarserInsteadOfEnding) {
  topo::Spec spec;
  spec.planes = spec.t0 = spec.t1 = 1;
  spec.hosts_per_t0 = 2;
  const auto topology = *topo::Topology::make(spec);
  sim::StreamWorkload load({}, topology.hosts());
  sim::World world(topology, {}, load);
  Series series(topology, 1'000'000, 16);
  sim::Ps last = 0;
  for (sim::Ps now = 0; now < 100'000'000; now += 500'000) {
    if (series.due(now)) series.take(world, {0, now, {}}), last = now;
  }
  EXPECT_EQ(series.interval(), 8'000'000);
  EXPECT_LT(series.samples().size(), 16u);
  EXPECT_GT(last, 91'000'000) << "it goes on to the end";
}

/// All names of fields below a value.
void names_in(const Json& json, std::set<std::string>& names) {
  if (!json.is_structured()) return;
  for (const auto& [key, value] : json.items()) {
    if (json.is_object()) names.insert(key);
    names_in(value, names);
  }
}

TEST(Outcome, EveryFieldIsDocumented) {
  const Ran ran = run_text(R"([topology]
planes = 2
t0 = 2
t1 = 2
hosts_per_t0 = 2
[[job]]
kind = "permutation"
bytes = "10kB"
[[phase]]
name = "all"
to = "1ms"
[[expect]]
figure = "flows"
min = 1
max = 9
)");
  std::set<std::string> names;
  names_in(Json::parse(to_json(ran.scenario, ran.outcome)), names);
  const std::string page = file_text(MRC_SOURCE_DIR "/docs/simulator.md");
  const std::set<std::string> of_distributions = {"count", "mean", "p50", "p99", "p99_9"},
                              labels = {"kind", "plane"};
  for (const std::string& name : names) {
    if (of_distributions.contains(name) || labels.contains(name)) continue;
    EXPECT_TRUE(page.find("`" + name + "`") != page.npos || page.find("`" + name + "[]`") != page.npos)
        << name;
  }
}

/// Without what differs from run to run.
Json lasting(const Ran& ran) {
  Json json = Json::parse(to_json(ran.scenario, ran.outcome));
  for (const char* cost : {"cpu_seconds", "wall_seconds", "peak_rss_bytes", "data_packets_per_cpu_second",
                           "hops_per_cpu_second"})
    json.erase(cost);
  return json;
}

TEST(Outcome, IsTheGoldenOne) {
  const Ran ran = run_text(file_text(kGolden + "quiet.toml"));
  const std::string found = lasting(ran).dump(1) + "\n";
  if (std::getenv("MRC_UPDATE") != nullptr) std::ofstream(kGolden + "quiet.json") << found;
  EXPECT_EQ(found, file_text(kGolden + "quiet.json"))
      << "if the change is meant: MRC_UPDATE=1 scenario_test, and look at the difference";
}

TEST(Outcome, DoesNotDependOnThreads) {
  const std::string text = file_text(kGolden + "lively.toml");
  const Ran one = run_text(text, 1), three = run_text(text, 3);
  EXPECT_EQ(lasting(one).dump(1), lasting(three).dump(1));
  EXPECT_EQ(flows_csv(one.outcome, *one.prepared->load), flows_csv(three.outcome, *three.prepared->load));
  EXPECT_EQ(series_csv(one.outcome), series_csv(three.outcome));
  EXPECT_EQ(links_csv(one.outcome), links_csv(three.outcome));
}

TEST(Outcome, WhatRepeatsForEverIsStoppedByItsTime) {
  const Ran ran = run_text(
      "[topology]\nt0 = 2\nt1 = 2\nhosts_per_t0 = 2\n[limits]\ntime = \"20us\"\n[[job]]\n"
      "kind = \"permutation\"\nbytes = 1000\niterations = 4000000000\n");
  EXPECT_TRUE(ran.outcome.stopped_by_time);
  EXPECT_EQ(ran.prepared->bytes, 0u) << "nobody knows how long it would take";
}

TEST(Outcome, AGapLiesBetweenIterationsOfAPipelineToo) {
  const std::string job =
      "[topology]\nt0 = 2\nt1 = 2\nhosts_per_t0 = 2\n[[job]]\nkind = \"pipeline\"\nbytes = 1000\n"
      "iterations = 3\n";
  const double without = run_text(job).outcome.jobs[0].last,
               with = run_text(job + "gap = \"1ms\"\n").outcome.jobs[0].last;
  EXPECT_GT(with, without + 2e9);
  EXPECT_LT(with, without + 2.1e9);
}

TEST(Outcome, AStoppedRunsLinksAreNeverUsedMoreThanWhole) {
  constexpr double kCould = 100e9 / 8 * 200e-6;  // bytes
  constexpr double kWhole = 1.01;  // of counters: the last window and its last frame count whole
  const Ran ran =
      run_text(kPair + "[[job]]\nkind = \"streams\"\npairs = [[1, 3]]\nbytes = \"1GB\"\nmessages = 1\n");
  const Ran large = run_text(
      "[topology]\nt0 = 2\nt1 = 2\nhosts_per_t0 = 2\n[limits]\ntime = \"200us\"\n[[job]]\n"
      "kind = \"streams\"\npairs = [[0, 2]]\nbytes = 1000\nmessages = 1\n[[job]]\n"
      "kind = \"streams\"\npairs = [[1, 3]]\nbytes = \"1GB\"\nmessages = 1\n");
  for (const Ran* r : {&ran, &large}) {
    for (const LinkFigures& l : r->outcome.links) {
      EXPECT_LE(l.use, 1.0) << l.name;
      EXPECT_LE(static_cast<double>(l.counters.bytes), kWhole * kCould) << l.name;
    }
    EXPECT_GT(r->outcome.busiest[0].use, 0.9);
    for (const sim::LinkUse& use : r->outcome.summary.by_group) EXPECT_LE(use.use_max, 1.0);
  }
}

TEST(Outcome, ExpectationsAreMetOrNot) {
  const Ran ran = run_text(kPair + R"(
[[expect]]
figure = "jobs.stream.of_line_rate"
min = 0.9
[[expect]]
figure = "links.t0_up.use_max"
max = 0.1
[[expect]]
figure = "busiest_links.nowhere.use"
min = 0
)");
  ASSERT_EQ(ran.outcome.checks.size(), 3u);
  EXPECT_TRUE(ran.outcome.checks[0].met);
  EXPECT_FALSE(ran.outcome.checks[1].met);
  EXPECT_FALSE(ran.outcome.checks[2].known) << "which links are the busiest is known afterwards only";
  EXPECT_FALSE(ran.outcome.passed());
  const auto figures = Figures::from_json(to_json(ran.scenario, ran.outcome));
  EXPECT_THAT(text(ran.outcome.checks[1], figures), HasSubstr("expected at most 0.1"));
}

TEST(Outcome, AMisspelledFigureIsRefusedBeforeTheRun) {
  const auto expecting = [](const std::string& figure) {
    return refusal(kPair + "[[phase]]\nname = \"late\"\n[[expect]]\nfigure = \"" + figure + "\"\nmin = 0\n");
  };
  EXPECT_THAT(expecting("jobs.straem.goodput_gbps"),
              HasSubstr("is no figure of the result; did you mean 'jobs.stream.goodput_gbps'?"));
  EXPECT_THAT(expecting("links.t2_down.use_max"), HasSubstr("is no figure")) << "this fabric has two tiers";
  for (const char* good : {"phases.late.of_line_rate", "links.to_host.use_max", "planes.1.trims", "end_us",
                           "completion_us.p99_9", "jobs.stream.completion_us.max"})
    EXPECT_EQ(expecting(good), "") << good;
}

TEST(Outcome, JobsShareHostsAndStartWhenTheyShould) {
  const Ran ran = run_text(R"([topology]
planes = 2
t0 = 2
t1 = 2
hosts_per_t0 = 2
[[job]]
name = "a"
kind = "ring_allreduce"
bytes = 40000
[[job]]
name = "b"
kind = "all_to_all"
bytes = 40000
start = "10us"
[[job]]
name = "c"
kind = "streams"
pairs = [[3, 0], [3, 1]]
messages = 3
start = "15us"
)");
  const auto& jobs = ran.outcome.jobs;
  EXPECT_EQ(ran.outcome.unfinished, "");
  EXPECT_EQ(jobs[0].flows, 4u * 6);
  EXPECT_EQ(jobs[1].flows, 4u * 3);
  EXPECT_EQ(jobs[2].flows, 2u * 3);
  EXPECT_EQ(jobs[0].first, 0);
  EXPECT_EQ(jobs[1].first, 10'000'000);
  EXPECT_EQ(jobs[2].first, 15'000'000);
  EXPECT_THAT(flows_csv(ran.outcome, *ran.prepared->load), HasSubstr("\nc,3,0,0,0,32768,15.000000,"));
}

TEST(Files, AreWholeOrNotThere) {
  const std::string path = ::testing::TempDir() + "scenario_files_test.csv";
  ASSERT_TRUE(write_file(path, "old"));
  ASSERT_TRUE(write_file(path, "new"));
  EXPECT_EQ(file_text(path), "new");
  std::remove(path.c_str());
  EXPECT_THAT(can_write("/nowhere/at/all.csv").error().what, HasSubstr("there is no directory /nowhere/at"));
  EXPECT_FALSE(can_write(::testing::TempDir()));
  EXPECT_FALSE(write_file("/nowhere/at/all.csv", "x"));
  const std::string pipe = ::testing::TempDir() + "outcome_test.fifo";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int end = open(pipe.c_str(), O_RDWR);
  EXPECT_TRUE(can_write(pipe));
  EXPECT_TRUE(write_file(pipe, "abc"));
  char text[4] = {};
  EXPECT_EQ(read(end, text, 3), 3);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe)) << "/dev/null must not become a file either";
  close(end);
  std::remove(pipe.c_str());
}

}  // namespace
}  // namespace mrc::scenario
