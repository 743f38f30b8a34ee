// Topology files and limits: what is accepted, what is refused, and that a refusal says where, what and what
// instead.
#include "topo/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topo/shapes_for_test.h"

namespace mrc::topo {
namespace {

using testing::HasSubstr;

TEST(SpecFile, SaysEverything) {
  const auto spec = parse_spec(R"(
[topology]
planes = 8
tiers = 3
pods = 4
t0 = 16
t1 = 8
t2 = 4
hosts_per_t0 = 32
hosts = 2000
radix = 64
switch_delay = "350ns"
locator = "fcbb:bb00::/32"
host_prefix = "fd00:1::/32"
[topology.links]
host = { rate = "100G", delay = "200ns" }
t0_t1 = { rate = "2.5G", delay = "1us" }
[scenario]
anything = true
)",
                               "f.toml");
  ASSERT_TRUE(spec) << spec.error().what;
  EXPECT_EQ(spec->planes, 8u);
  EXPECT_EQ(spec->hosts, 2000u);
  EXPECT_EQ(spec->t0_t1.bits_per_second, 2'500'000'000u);
  EXPECT_EQ(spec->t0_t1.delay, Duration(1000));
  EXPECT_EQ(spec->switch_delay, Duration(350));
  EXPECT_EQ(spec->t1_t2, LinkSpec{}) << "what is not said keeps its default";
}

TEST(SpecFile, WritesWhatItReads) {
  for (Spec spec : small_shapes()) {
    spec.t0_t1 = {1'234'567'000, Duration(1'500)};
    spec.host_link.bits_per_second = 1'000'001;
    const auto again = parse_spec(to_toml(spec), "again");
    ASSERT_TRUE(again) << again.error().what;
    EXPECT_EQ(*again, spec);
  }
}

struct BadFile {
  const char* text;
  const char* complaint;
};
class RefusedFile : public testing::TestWithParam<BadFile> {};
INSTANTIATE_TEST_SUITE_P(
    SpecFile, RefusedFile,
    testing::Values(BadFile{"planes = 2", "no [topology] table"},
                    BadFile{"[topology]\nplanes = two", "f.toml:2"},
                    BadFile{"[topology]\n\nplans = 2",
                            "f.toml:3: topology.plans is not a setting; known here: planes, tiers"},
                    BadFile{"[topology]\nplanes = -1", "f.toml:2: topology.planes must be a whole number"},
                    BadFile{"[topology]\nplanes = 2.5", "must be a whole number"},
                    BadFile{"[topology]\nt0 = 99999999999", "must be a whole number, 0 to 16777216"},
                    BadFile{"[topology]\nlocator = \"fcbb::/200\"", "is not an IPv6 prefix; write it as"},
                    BadFile{"[topology]\nlocator = 7", "topology.locator must be a string"},
                    BadFile{"[topology]\nlinks = 7", "topology.links must be a table"},
                    BadFile{"[topology.links]\nhost = { rate = \"fast\" }",
                            "topology.links.host.rate \"fast\" is not understood"},
                    BadFile{"[topology.links]\nhost = { rate = \"100\" }", "write it as \"100G\""},
                    BadFile{"[topology.links]\nhost = { delay = \"-1ns\" }", "write it as \"500ns\""},
                    BadFile{"[topology.links]\nhost = { latency = \"1ns\" }",
                            "topology.links.host.latency is not a setting"}));

TEST_P(RefusedFile, SaysWhereAndWhy) {
  const auto spec = parse_spec(GetParam().text, "f.toml");
  ASSERT_FALSE(spec);
  EXPECT_THAT(spec.error().what, HasSubstr(GetParam().complaint));
}

TEST(SpecFile, MissingFileIsAnError) { EXPECT_FALSE(read_spec("/nonexistent/topology.toml")); }

struct BadShape {
  Spec spec;
  const char* complaint;
};
class RefusedShape : public testing::TestWithParam<BadShape> {};
INSTANTIATE_TEST_SUITE_P(
    Limits, RefusedShape,
    testing::Values(
        BadShape{{.planes = 0}, "planes = 0: a NIC has 1 to 31 ports"}, BadShape{{.planes = 32}, "1 to 31"},
        BadShape{{.tiers = 4}, "1, 2 or 3 can be built"}, BadShape{{.tiers = 0}, "1, 2 or 3"},
        BadShape{{.tiers = 1, .t0 = 2}, "set t0 = 1 and pods = 1, or tiers = 2"},
        BadShape{{.tiers = 2, .pods = 2}, "set pods = 1, or tiers = 3"},
        BadShape{{.hosts_per_t0 = 0}, "at least one host"}, BadShape{{.t0 = 0}, "at least one T0"},
        BadShape{{.t1 = 0}, "at least one T1"},
        BadShape{{.tiers = 3, .pods = 2, .t2 = 0}, "at least one uplink"},
        BadShape{{.planes = 8, .t0 = 2049},
                 "2049 T0s per plane do not fit 16-bit uSIDs: 8 plane(s) leave 11 bits, so at most 2048"},
        BadShape{{.planes = 8, .hosts_per_t0 = 1025}, "at most 1024"},
        BadShape{{.planes = 8, .t1 = 2049}, "2049 T1s per plane"},
        BadShape{{.tiers = 3, .pods = 2, .t1 = 128, .t2 = 128}, "16384 T2s per plane"},
        BadShape{
            {.t1 = 40, .hosts_per_t0 = 30, .radix = 64},
            "a T0 needs 70 ports (30 down, 40 up) and radix = 64; hosts_per_t0 = 32 and t1 = 32 would fit"},
        BadShape{{.t0 = 65, .radix = 64},
                 "a T1 needs 65 ports (65 down, 0 up) and radix = 64; t0 = 64 would fit, or tiers = 3"},
        BadShape{{.tiers = 3, .pods = 65, .t2 = 1, .radix = 64}, "pods = 64 would fit"},
        BadShape{{.t0 = 2, .hosts_per_t0 = 2, .hosts = 5},
                 "hosts = 5, and 2 T0s with 2 downlinks have room for 4"},
        BadShape{{.host_link = {.bits_per_second = 999'999}}, "links.host.rate"},
        BadShape{{.t0_t1 = {.delay = Duration(-1)}}, "links.t0_t1.delay"},
        BadShape{{.switch_delay = Duration(2'000'000'000)}, "switch_delay"},
        BadShape{{.locator = {{}, 33}}, "16, 32, 48 or 64 bits"},
        BadShape{{.tiers = 3, .pods = 2, .t2 = 1, .locator = {Ipv6{{0xfc}}, 112}}, "16, 32, 48 or 64 bits"},
        BadShape{{.host_prefix = {Ipv6{{0xfd}}, 40}}, "at most 32 bits"},
        BadShape{{.host_prefix = {Ipv6{{0xfc, 0xbb}}, 16}}, "overlap"}));

TEST_P(RefusedShape, SaysWhatWouldFit) {
  const auto topo = Topology::make(GetParam().spec);
  ASSERT_FALSE(topo);
  EXPECT_THAT(topo.error().what, HasSubstr(GetParam().complaint));
}

TEST(Limits, TheLargestThatFitsIsAccepted) {
  EXPECT_TRUE(Topology::make(published()));
  EXPECT_TRUE(Topology::make({.planes = 8, .t0 = 2048, .t1 = 2048, .hosts_per_t0 = 1024}));
  EXPECT_TRUE(Topology::make(
      {.planes = 1, .tiers = 3, .pods = 64, .t0 = 32, .t1 = 32, .t2 = 32, .hosts_per_t0 = 32, .radix = 64}));
  EXPECT_TRUE(Topology::make({.planes = 1, .tiers = 1, .t0 = 1, .hosts_per_t0 = 2}));
}

TEST(Units, ReadAndWriteThemselves) {
  EXPECT_EQ(*parse_rate("400G"), 400'000'000'000u);
  EXPECT_EQ(rate_text(400'000'000'000), "400G");
  EXPECT_EQ(rate_text(1'500'000), "1500k");
  EXPECT_EQ(*parse_delay("1.5us"), Duration(1500));
  EXPECT_EQ(delay_text(Duration(1500)), "1500ns");
  EXPECT_EQ(delay_text(Duration(2'000'000)), "2ms");
  for (const char* bad : {"", "G", "100", "1e30G", "nanG", "100g", "100 G"})
    EXPECT_FALSE(parse_rate(bad)) << bad;
}

}  // namespace
}  // namespace mrc::topo
