// Scenario files: what they mean, and what is refused with which sentence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_test_support.h"

namespace mrc::scenario {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kSmall = R"([topology]
planes = 2
t0 = 2
t1 = 2
hosts_per_t0 = 4
[[job]]
kind = "permutation"
bytes = "100kB"
)";

TEST(Scenario, SaysWhatAPersonWrote) {
  const auto document = Document::parse(R"(name = "n"
seed = 7
[topology]
planes = 4
t0 = 3
t1 = 5
hosts_per_t0 = 6
rate = "200G"
links.t0_t1 = { delay = "2us" }
[transport]
evs = 32
pmtu = 1024
spray_unit = 4
congestion = "constant"
window = "96KiB"
hints = { remote_recv_peers = 9 }
[queues]
trim = false
ecn_low = 0.1
[limits]
time = "3ms"
[[job]]
kind = "training"
tp = 2
dp = 3
gradient_bytes = "1MiB"
forward = "1us"
start = "5us"
stragglers = { ranks = [1], slowdown = 2.5 }
[[fault]]
kind = "lossy"
target = "p0"
amount = 0.01
for = "10us"
)",
                                        "x.toml");
  ASSERT_TRUE(document) << document.error().what;
  const auto s = document->scenario();
  ASSERT_TRUE(s) << s.error().what;
  EXPECT_EQ(s->name, "n");
  EXPECT_EQ(s->topology.t0_t1.bits_per_second, 200'000'000'000u);
  EXPECT_EQ(s->topology.t0_t1.delay, Duration(2000));
  EXPECT_EQ(s->world.hosts.seed, 7u);
  EXPECT_EQ(s->world.hosts.evs, 32);
  EXPECT_EQ(s->world.hosts.path_mtu, 1024);
  EXPECT_EQ(s->world.hosts.paths.spray_unit, 4);
  EXPECT_EQ(s->world.hosts.congestion, engine::CcAlgorithm::constant);
  EXPECT_EQ(s->world.hosts.window, 96u << 10);
  EXPECT_EQ(s->world.hosts.hints.remote_recv_peers, 9u);
  EXPECT_FALSE(s->world.queues.trim);
  EXPECT_EQ(s->world.end, 3'000'000'000);
  EXPECT_EQ(s->jobs[0].training.gradient_bytes, 1u << 20);
  EXPECT_EQ(s->jobs[0].start, 5'000'000);
  EXPECT_EQ(s->faults[0].fault.until, 10'000'000);
  const auto prepared = prepare(*s);
  ASSERT_TRUE(prepared) << prepared.error().what;
  EXPECT_FALSE(prepared->world.strokes.empty());
}

struct Refused {
  const char* added;
  const char* sentence;
};

class BadInput : public ::testing::TestWithParam<Refused> {};

TEST_P(BadInput, IsOneSentenceWithLineAndRemedy) {
  const std::string what = refusal(kSmall + GetParam().added);
  EXPECT_THAT(what, StartsWith("x.toml:"));
  EXPECT_THAT(what, HasSubstr(GetParam().sentence));
  EXPECT_EQ(what.find('\n'), std::string::npos) << what;
}

INSTANTIATE_TEST_SUITE_P(
    , BadInput,
    ::testing::Values(
        Refused{"bites = 3", "9: job.0.bites is not a setting; did you mean 'bytes'?"},
        Refused{"iterations = 0", "9: job.0.iterations must be a whole number, 1 to"},
        Refused{"iterations = \"two\"", "9: job.0.iterations must be a whole number"},
        Refused{"start = 5", "9: job.0.start \"5\" is not understood; write it as"},
        Refused{"start = \"5 parsecs\"", "9: job.0.start \"5 parsecs\" is not understood; write it as"},
        Refused{"ranks = 9", "needs host 8, and the fabric has hosts 0 to 7"},
        Refused{"hosts = [1, 2, 2]", "lists a host twice"}, Refused{"hosts = [1, 99]", "names host 99"},
        Refused{"ranks = 2\nhosts = [1, 2]", "10: job.0.hosts already says where all ranks are"},
        Refused{"stragglers = { count = 9, slowdown = 2 }", "more stragglers than ranks"},
        Refused{"[[job]]\nkind = \"permuttion\"", "10: job.1.kind is an unknown pattern 'permuttion'"},
        Refused{"[[job]]\nbytes = 1", "9: job.1 has no 'kind'"},
        Refused{"[[job]]\nkind = \"streams\"\npairs = [[0, 1]]", "streams without end; give them 'messages'"},
        Refused{"[[job]]\nkind = \"streams\"\npairs = [[0, 1, 2]]", "must be a list of pairs"},
        Refused{"[[job]]\nkind = \"streams\"\nmessages = 1\npairs = [[3, 3]]", "sending to itself"},
        Refused{"[[job]]\nkind = \"streams\"\nmessages = 1\npairs = [[3, 8]]", "names host 8"},
        Refused{"[[job]]\nkind = \"cm\"\nfile = \"nowhere.cm\"", "nowhere.cm"},
        Refused{"[[job]]\nkind = \"goal\"", "has no 'file'"},
        Refused{"[transport]\npmtu = 1500", "10: transport.pmtu must be 256, 512, 1024, 2048 or 4096"},
        Refused{"[transport]\ncongestion = \"nsc\"", "did you mean 'nscc'?"},
        Refused{"[transport]\nhints = 3", "10: transport.hints must be a table"},
        Refused{"[transprot]\nevs = 1", "transprot is not a setting; did you mean 'transport'?"},
        Refused{"[queues]\necn_low = 0.9", "must not be below ecn_low"},
        Refused{"[queues]\ntrim = 1", "must be true or false"},
        Refused{"[[fault]]\nkind = \"down\"", "9: fault.0 needs either 'target'"},
        Refused{"[[fault]]\ntarget = \"p0\"", "9: fault.0 has no 'kind'"},
        Refused{"[[fault]]\nkind = \"down\"\ntarget = \"p7\"",
                "9: fault at 'p7', which this fabric does not have"},
        Refused{"[[fault]]\nkind = \"lossy\"\ntarget = \"p0\"", "say a loss between 0 and 1"},
        Refused{"[[fault]]\nkind = \"down\"\nany = \"t0_t1\"", "needs 'count' or 'part'"},
        Refused{"[[fault]]\nkind = \"down\"\nany = \"t0_t1\"\ncount = 99", "fewer such links"},
        Refused{"[[fault]]\nkind = \"down\"\ntarget = \"p0\"\nat = \"5us\"\nuntil = \"4us\"",
                "ends before it begins"},
        Refused{"[random_faults]\nflaps_per_link_hour = 1", "has no 'over'"},
        Refused{"[[phase]]\nname = \"a\"\nfrom = \"2us\"\nto = \"1us\"", "ends before it begins"},
        Refused{"[[expect]]\nfigure = \"flows\"", "has neither 'min' nor 'max'"},
        Refused{"[[expect]]\nmin = 1", "has no 'figure'"},
        Refused{"[limits]\ntime = \"0us\"", "must be longer than 0"},
        Refused{"[output]\nreprot = \"x\"", "did you mean 'report'?"},
        Refused{"stragglers = { count = 1, slowdown = 2 }", "nothing to compute"},
        Refused{"name = \"a\"\n[[job]]\nname = \"a\"\nkind = \"incast\"",
                "11: job.1.name is 'a' like that of another"},
        Refused{"[[phase]]\nname = \"a\"\n[[phase]]\nname = \"a\"", "is that of another phase"},
        Refused{"[[fault]]\nkind = \"down\"\ntarget = \"p0\"\nfor = \"1us\"\nevery = \"5us\"",
                "13: fault.0.every says how often"},
        Refused{"[[fault]]\nkind = \"down\"\ntarget = \"p0\"\namount = 0.5",
                "12: fault.0.amount has no meaning"},
        Refused{"[random_faults]\nflaps_per_link_hour = 1e12\nflap_length = \"1us\"\nover = \"1s\"",
                "x.toml:9: random_faults would strike more than"},
        Refused{"job = 3", "x.toml:"},   // a key twice: TOML's own complaint
        Refused{"[[job]", "x.toml:"}));  // no TOML at all

TEST(Scenario, NeedsAFabricAndAJob) {
  EXPECT_THAT(refusal("[[job]]\nkind = \"incast\""), HasSubstr("has no [topology]"));
  EXPECT_THAT(refusal("[topology]\nplanes = 1"), HasSubstr("has no [[job]]"));
  EXPECT_THAT(refusal("[topology]\nfile = \"no.topo\"\n[[job]]\nkind = \"incast\""),
              HasSubstr("x.toml:2: topology.file can not be used"));
  EXPECT_THAT(refusal("[topology]\nplanes = 0\n[[job]]\nkind = \"incast\""), HasSubstr("1 to 16777216"));
  EXPECT_THAT(refusal("[topology]\nt0 = 4\nradix = 2\n[[job]]\nkind = \"incast\""),
              StartsWith("x.toml:1: topology:"));
  EXPECT_THAT(refusal("[topology]\ndelay = \"0ns\"\n[[job]]\nkind = \"incast\""),
              HasSubstr("x.toml:1: host links need a delay"));
  EXPECT_THAT(refusal("[topology]\ndelay = \"1ms\"\n[[job]]\nkind = \"incast\""),
              HasSubstr("x.toml:1: topology: a round trip of 8"));
  EXPECT_THAT(refusal(kSmall + "[queues]\ndata_bdp = 0.02"), HasSubstr("ports to_host have room for"));
  EXPECT_EQ(refusal(kSmall + "[queues]\ndata_bdp = 0.02\n[transport]\nprotocol = \"roce\""), "")
      << "back-pressure needs no room";
  std::string many = kSmall;
  for (int i = 0; i < 16; ++i) many += "[[job]]\nkind = \"incast\"\n";
  EXPECT_THAT(refusal(many), StartsWith("x.toml:39: more than 16 jobs"));
}

TEST(Document, PutsValuesAtPaths) {
  auto document = Document::parse(kSmall, "x.toml");
  ASSERT_TRUE(document->set("job.0.bytes=4MB"));
  ASSERT_TRUE(document->set("transport.evs=8"));
  const auto s = document->scenario();
  ASSERT_TRUE(s) << s.error().what;
  EXPECT_EQ(s->jobs[0].pattern.bytes, 4'000'000u);
  EXPECT_EQ(s->world.hosts.evs, 8);
  EXPECT_THAT(document->set("job.4.bytes=1").error().what, HasSubstr("4 is not one of the 1 there"));
  EXPECT_THAT(document->set("bytes").error().what, HasSubstr("write it as"));
  EXPECT_TRUE(document->set("transport.evs=lots"));
  EXPECT_EQ(document->scenario().error().what,
            "--set transport.evs=lots: transport.evs must be a whole number, 1 to 1024");
}

TEST(Document, KnowsWhoMadeATable) {
  auto document = Document::parse(kSmall, "x.toml");
  for (const char* setting :
       {"random_faults.flaps_per_link_hour=1e12", "random_faults.flap_length=1us", "random_faults.over=1s"})
    ASSERT_TRUE(document->set(setting));
  EXPECT_THAT(prepare(*document->scenario()).error().what,
              StartsWith("--set random_faults.over=1s: random_faults would strike"));
}

TEST(Document, MakesTheGridOfASweep) {
  const auto document = Document::parse(
      kSmall + "[sweep]\n\"transport.evs\" = [8, 16, 32]\n\"queues.trim\" = [true, false]\n", "x");
  const auto grid = document->grid();
  ASSERT_TRUE(grid) << grid.error().what;
  ASSERT_EQ(grid->size(), 6u);
  EXPECT_EQ((*grid)[0][0].path, "queues.trim");
  EXPECT_EQ((*grid)[5][0].value, "false");
  EXPECT_EQ((*grid)[5][1].value, "32");
  EXPECT_THAT(Document::parse(kSmall + "[sweep]\n\"transport.evs\" = 8\n", "x")->grid().error().what,
              HasSubstr("must be a list of values"));
}

TEST(Document, ExpectsOnlyWhereItHolds) {
  const std::string text = kSmall + R"([transport]
evs = 8
[[expect]]
figure = "flows"
min = 1
where = { "transport.evs" = 8 }
[[expect]]
figure = "flows"
min = 2
where = { "transport.evs" = 16 }
)";
  const auto s = Document::parse(text, "x")->scenario();
  ASSERT_TRUE(s) << s.error().what;
  ASSERT_EQ(s->expectations.size(), 1u);
  EXPECT_EQ(s->expectations[0].min, 1.0);
}

}  // namespace
}  // namespace mrc::scenario
