// The peer's files as they are, and what is said about bad ones: line and remedy, every time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "sim/cm_file.h"
#include "sim/goal_file.h"
#include "sim/text_input.h"
#include "sim/topo_file.h"
#include "topo/topo.h"

namespace mrc::sim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kData = MRC_SOURCE_DIR "/tests/data/htsim/";

TEST(CmFile, ReadsThePeersMatrices) {
  const auto perm = read_cm(kData + "perm_1024_2000000.cm");
  ASSERT_TRUE(perm) << perm.error().what;
  EXPECT_EQ(perm->nodes, 1024u);
  ASSERT_EQ(perm->connections.size(), 1024u);
  EXPECT_EQ(perm->connections[0].source, 197u);
  EXPECT_EQ(perm->connections[0].destination, 714u);
  EXPECT_EQ(perm->connections[0].bytes, 2'000'000u);
  EXPECT_EQ(perm->connections[0].start, 0);
  ASSERT_TRUE(read_cm(kData + "incast_8192_512_100000.cm"));
}

TEST(CmFile, TakesTimesAsThePeerWritesThem) {
  const auto cm =
      parse_cm("Nodes 2\n0->1 id 1 start 1.5e6 size 7 prio 3 msg 2\n0->1 id 1 msg start 0 size 9\n", "x");
  ASSERT_TRUE(cm) << cm.error().what;
  EXPECT_EQ(cm->connections[0].start, 1'500'000);
  EXPECT_EQ(cm->connections[1].bytes, 9u);
}

TEST(TopoFile, ReadsThePeersTopologies) {
  const auto ls = read_topo(kData + "ls_1024_400g.topo");
  ASSERT_TRUE(ls) << ls.error().what;
  EXPECT_EQ(ls->spec.t0, 32u);
  EXPECT_EQ(ls->spec.t1, 32u);
  EXPECT_EQ(ls->spec.hosts_per_t0, 32u);
  EXPECT_EQ(ls->spec.host_link.bits_per_second, 400'000'000'000u);
  EXPECT_EQ(ls->spec.t0_t1.delay, 1000ns);
  for (const char* name :
       {"ls_128_400g.topo", "ls_1024_400g.topo", "ls_8192_400g.topo", "ft_1024_400g.topo"}) {
    const auto file = read_topo(kData + name);
    ASSERT_TRUE(file) << file.error().what;
    const auto topology = topo::Topology::make(file->spec);
    ASSERT_TRUE(topology) << topology.error().what;
    EXPECT_EQ(topology->hosts(), name[3] == '8' ? 8192u : name[4] == '2' ? 128u : 1024u) << name;
  }
  EXPECT_EQ(read_topo(kData + "ft_1024_400g.topo")->spec.pods, 16u);
}

struct Bad {
  std::string text;
  const char* where;
  const char* what;
};

template <class Parse>
void expect_refusals(Parse parse, std::initializer_list<Bad> cases) {
  for (const Bad& bad : cases) {
    const auto result = parse(bad.text, "f");
    ASSERT_FALSE(result) << bad.text;
    EXPECT_THAT(result.error().what, AllOf(HasSubstr(bad.where), HasSubstr(bad.what), HasSubstr("; ")))
        << bad.text;
  }
}

TEST(CmFile, SaysLineAndRemedy) {
  expect_refusals(parse_cm,
                  {
                      {"", "f:1:", "Nodes"},
                      {"Nodes x\n", "f:1:", "number"},
                      {"Nodes 4\nNodes 4\n", "f:2:", "second"},
                      {"Nodes 4\n0->4 id 1 start 0 size 1\n", "f:2:", "nodes are 0 to 3"},
                      {"Nodes 4\n1->1 id 1 start 0 size 1\n", "f:2:", "itself"},
                      {"Nodes 4\n\n# c\n0->1 id 1 size 1\n", "f:4:", "start"},
                      {"Nodes 4\n0->1 id 1 start 0\n", "f:2:", "size"},
                      {"Nodes 4\n0->1 id 1 start 0 size 0\n", "f:2:", "size 0"},
                      {"Nodes 4\n0->1 id 1 start -5 size 1\n", "f:2:", "number"},
                      {"Nodes 4\n0->1 id 1 start 0 trigger 2 size 1\n", "f:2:", "keep one"},
                      {"Nodes 4\n0->1 id 1 trigger 2 size 1\n", "f:2:", "trigger 2"},
                      {"Nodes 4\n0->1 id 0 start 0 size 1\n", "f:2:", "id 0"},
                      {"Nodes 4\n0->1 id 1 start 0 size 1\n0->2 id 1 start 0 size 1\n", "f:3:", "unique"},
                      {"Nodes 4\nConnections 2\n0->1 id 1 start 0 size 1\n", "f:3:", "cut short"},
                      {"Nodes 4\n0->1 id 1 start 0 size 1 colour 3\n", "f:2:", "colour"},
                      {"Nodes 4\n0->1 id 1 start 0 size\n", "f:2:", "number"},
                      {"Nodes 4\ntrigger id 1\n", "f:2:", "oneshot"},
                      {"Nodes 4\ntrigger id 1 sometimes\n", "f:2:", "sometimes"},
                      {"Nodes 4\nfailure switch_type X switch_id 1\n", "f:2:", "TOR"},
                      {"Nodes 4\nfailure switch_id 1\n", "f:2:", "switch_type"},
                      {"Nodes 4\n->\n", "f:2:", "SRC->DST"},
                      {"Nodes 4\n0->1 start 18446744073709551615 size 1\n", "f:2:", "at most 10^18"},
                      {"Nodes 4\n0->1 start 2e18 size 1\n", "f:2:", "at most 10^18"},
                      {"Nodes 4\n0->1 start 0 size 18446744073709551615\n", "f:2:", "10^15 bytes"},
                      {"Nodes 4\n0->1 start 0 size 1 size 2\n", "f:2:", "'size' a second time"},
                      {"Nodes 99999999999\n", "f:1:", "'Nodes' is 99999999999, which is too large"},
                      {"Nodes 4\n0->1 start 0 size 99999999999999999999\n", "f:2:", "10^15 bytes"},
                      {"Nodes 4\n0->1 start 99999999999999999999 size 1\n", "f:2:", "11 days"},
                  });
}

TEST(CmFile, RefusesATriggerThatNeverFires) {
  const auto matrix = [](const std::string& second, const std::string& trigger) {
    return "Nodes 4\n0->1 start 0 size 1 send_done_trigger 1\n1->2 trigger " + second + "\ntrigger id 1 " +
           trigger + "\ntrigger id 2 oneshot\n";
  };
  EXPECT_TRUE(parse_cm(matrix("1 size 1", "oneshot"), "f"));
  EXPECT_TRUE(parse_cm(matrix("1 size 1", "barrier count 1"), "f"));
  expect_refusals(
      parse_cm,
      {
          {matrix("2 size 1", "oneshot"), "f:3:", "trigger 2 is fired by none"},
          {matrix("2 size 1 send_done_trigger 2", "oneshot"), "f:3:", "fired by none that does"},
          {matrix("1 size 1 send_done_trigger 1", "barrier count 2"), "f:3:", "fired 1 time, too few"},
          {matrix("1 size 1\n2->3 trigger 1 size 1", "multishot"), "f:4:", "fired 1 time, too few"},
      });
  EXPECT_TRUE(parse_cm(matrix("1 size 1 recv_done_trigger 1\n2->3 trigger 1 size 1", "multishot"), "f"));
}

TEST(Files, ADirectoryIsNoFile) {
  EXPECT_THAT(read_cm("/tmp").error().what, HasSubstr("/tmp: is a directory"));
  EXPECT_THAT(read_goal("/tmp").error().what, HasSubstr("/tmp: is a directory"));
  EXPECT_THAT(read_topo("/tmp").error().what, HasSubstr("/tmp: is a directory"));
}

TEST(TopoFile, SaysLineAndRemedy) {
  const std::string good = *read_text(kData + "ls_128_400g.topo");
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  expect_refusals(parse_topo,
                  {
                      {"", "f:1:", "nodes"},
                      {"Nodes 4\nTiers 9\nPodsize 4\n", "f:2:", "2 or 3"},
                      {"Nodes 4\nTiers 2\nPodsize 0\n", "f:3:", "'Podsize' is 0"},
                      {"Nodes 9999999999\n", "f:1:", "too large"},
                      {"Nodes four\n", "f:1:", "number"},
                      {"Radix_Up 4\n", "f:1:", "header"},
                      {with("Radix_Down 16", "Radix_Down 15"), "f:7:", "even"},
                      {with("Radix_Down 8", "Radix_Down 9"), "f:14:", "set it to 8"},
                      {with("Radix_Up 16", "Bundle 2"), "f:5:", "Radix_Up"},
                      {with("Switch_Latency_ns 0", "Bundle 2"), "f:10:", "Bundle"},
                      {with("Radix_Down 16", "Radix_Down 0"), "f:7:", "'Radix_Down' is 0"},
                      {with("Downlink_speed_Gbps 400", "Downlink_speed_Gbps 0"), "f:6:", "is 0"},
                      {with("Podsize 128", "Podsize 64"), "f:3:", "pods"},
                      {with("Tier 1", "Tier 7"), "f:12:", "tiers are"},
                      {with("Tier 1", "Tier 0"), "f:12:", "second"},
                      {with("Downlink_Latency_ns 1000", "Downlink_Latency_ns 0"), "f:9:", "delay"},
                      {with("Radix_Up 16", "Colour 16"), "f:8:", "Colour"},
                      {good + "Queue_Up 100000\n", "f:17:", "no uplinks"},
                  });
}

TEST(TopoFile, NamesQueues) {
  const std::string good = *read_text(kData + "ft_1024_400g.topo");
  std::string text;
  int tier = -1;
  for (const TextLine& line : words_by_line(good)) {
    text += std::string(line.words[0]) + " " + std::string(line.words[1]) + "\n";
    if (lower_case(line.words[0]) != "tier") continue;
    ++tier;
    text += "Queue_Down " + std::to_string(1000 * (tier + 1)) + "\n";
    if (tier < 2) text += "Queue_Up " + std::to_string(1000 * (tier + 4)) + "\n";
  }
  const auto file = parse_topo(text, "f");
  ASSERT_TRUE(file) << file.error().what;
  const PortRooms& q = file->queues;
  EXPECT_EQ((std::array{q.to_host, q.t1_down, q.t2_down, q.t0_up, q.t1_up}),
            (std::array{1000u, 2000u, 3000u, 4000u, 5000u}));
  EXPECT_EQ(parse_topo(good, "f")->queues.to_host, 0u) << "it names none";
  const auto topology = *topo::Topology::make(file->spec);
  const LinkPlan plan = plan_links(topology, {.data_bdp = 2, .rooms = {.t1_down = 2000}}, 8'000'000);
  EXPECT_EQ(plan.t1_down.data_limit, 2000u);
  EXPECT_EQ(plan.t1_down.ecn_high, 1600u);
  EXPECT_EQ(plan.t0_up.data_limit, 800'000u) << "twice 400 Gb/s x 8 us";
}

TEST(GoalFile, ReadsWhatGeneratorsWrite) {
  const auto file = parse_goal(
      "/* two\n lines */ num_ranks 2\nrank 0{\ncalc 5 // no label\nl1 :send 10b to 1 tag 7 cpu 0 nic 0\n"
      "l2:calc 3\nl2 requires l1\n}\nrank 1 {\nrecv 10b from 0 tag 7\n}\n",
      "f");
  ASSERT_TRUE(file) << file.error().what;
  ASSERT_EQ(file->ranks[0].ops.size(), 3u);
  EXPECT_EQ(file->ranks[0].ops[1].line, 5) << "lines of comments count";
  EXPECT_EQ(file->ranks[0].ops[1].tag, 7u);
  EXPECT_EQ(file->ranks[0].ops[2].waits_for, 1u);
  EXPECT_EQ(file->ranks[0].ops[0].edges, 0u);
}

TEST(GoalFile, SaysLineAndRemedy) {
  expect_refusals(
      parse_goal,
      {
          {"", "f:1:", "num_ranks"},
          {"num_ranks 0\n", "f:1:", "1 to"},
          {"num_ranks 2\nrank 2 {\n}\n", "f:2:", "does not exist"},
          {"num_ranks 2\nrank 0 {\n", "f:2:", "'}'"},
          {"num_ranks 2\nl1: calc 5\n", "f:2:", "outside"},
          {"num_ranks 2\nrank 0 {\nl1: send 10 to 1\n}\n", "f:3:", "4096b"},
          {"num_ranks 2\nrank 0 {\nl1: send 10b 1\n}\n", "f:3:", "peer"},
          {"num_ranks 2\nrank 0 {\nl1: send 10b to 0\n}\n", "f:3:", "itself"},
          {"num_ranks 2\nrank 0 {\nl1: send 10b to 1 tag\n}\n", "f:3:", "number"},
          {"num_ranks 2\nrank 0 {\nl1: send 10b to 1\n}\n", "f:3:", "nobody receives"},
          {"num_ranks 2\nrank 0 {\nl1: recv 10b from 1\n}\n", "f:3:", "nobody sends"},
          {"num_ranks 2\nrank 0 {\nl1: recv 10b from -1\n}\n", "f:3:", "name the rank"},
          {"num_ranks 2\nrank 0 {\nl1: recv 10b from 1 tag -1\n}\n", "f:3:", "name the tag"},
          {"num_ranks 2\nrank 0 {\nsend\n}\n", "f:3:", "no operation"},
          {"num_ranks 2\nrank 0 {\nl1:\n}\n", "f:3:", "no operation"},
          {"num_ranks 2\nrank 0 {\nl1: calc 1000000000000001\n}\n", "f:3:", "10^15"},
          {"num_ranks 2\nrank 0 {\nl1: send 1000000000000001b to 1\n}\n", "f:3:", "10^15"},
          {"num_ranks 2\nrank 0 {\nl1: jump 10\n}\n", "f:3:", "jump"},
          {"num_ranks 2\nrank 0 {\nl1: calc 10\nl1: calc 5\n}\n", "f:4:", "unique"},
          {"num_ranks 2\nrank 0 {\nl1: calc 10\nl1 requires l2\n}\n", "f:4:", "l2"},
          {"num_ranks 2\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n", "f:3:", "cycle"},
          {"num_ranks 2\nrank 0 {\na: calc 1\n}\nrank 0 {\n}\n", "f:5:", "second"},
      });
}

TEST(Files, WhatIsNoTextIsNotShownAsItIs) {
  const std::string what = parse_topo("\x1b[31m\x07\xff" + std::string(5000, 'x') + "\n", "f").error().what;
  EXPECT_THAT(what, testing::StartsWith("f:1: '?[31m??xxx"));
  EXPECT_LT(what.size(), 300u);
}

TEST(Files, MissingOnesAreNamed) {
  EXPECT_THAT(read_cm("/nowhere.cm").error().what, HasSubstr("/nowhere.cm"));
  EXPECT_THAT(read_topo("/nowhere.topo").error().what, HasSubstr("/nowhere.topo"));
  EXPECT_THAT(read_goal("/nowhere.goal").error().what, HasSubstr("/nowhere.goal"));
}

}  // namespace
}  // namespace mrc::sim
