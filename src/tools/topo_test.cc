// `mrc topo` as a user meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/ipv6.h"
#include "node/expansion.h"
#include "tools/ctl_profile_file.h"
#include "tools/run_mrc.h"

namespace mrc::tools {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::run_mrc;

TEST(Topo, DescribesThePublishedFabric) {
  const auto out = run_mrc({"topo", "describe", "--planes", "8", "--t0", "512", "--t1", "256",
                            "--hosts-per-t0", "256", "--radix", "512", "--json"});
  EXPECT_EQ(out.status, 0) << out.err;
  const json j = json::parse(out.out);
  EXPECT_EQ(j["hosts"], 131072);
  EXPECT_EQ(j["switches"], 6144);
  EXPECT_EQ(j["ev_bits"], 11);
  EXPECT_EQ(j["ways_between_far_hosts"], 2048);
  EXPECT_EQ(j["t1"]["last_sid"], "fcbb:bb00:b8ff::/48");
}

TEST(Topo, RefusesWithARemedy) {
  const auto out = run_mrc({"topo", "check", "--t0", "65", "--radix", "64"});
  EXPECT_EQ(out.status, 1);
  EXPECT_THAT(out.err, HasSubstr("t0 = 64 would fit, or tiers = 3"));
  EXPECT_EQ(run_mrc({"topo", "check", "--file", "/nonexistent"}).status, 1);
  EXPECT_EQ(run_mrc({"topo", "check", "--rate", "fast"}).status, 1);
  EXPECT_EQ(run_mrc({"topo"}).status, 2);
}

TEST(Topo, FollowsAnEvAndItsCarrierAlongTheSamePath) {
  const auto by_ev =
      run_mrc({"topo", "path", "--planes", "4", "--from", "h0", "--to", "h3", "--ev", "0xc003", "--json"});
  ASSERT_EQ(by_ev.status, 0) << by_ev.err;
  const json j = json::parse(by_ev.out);
  EXPECT_EQ(j["links"], json::parse(R"(["h0>p1.t0.0","p1.t0.0>p1.t1.1","p1.t1.1>p1.t0.1","p1.t0.1>h3"])"));
  const std::string carrier = j["carriers"][0];
  const auto by_carrier = run_mrc({"topo", "path", "--planes", "4", "--from", "h0", "--to", "h3", "--carrier",
                                   carrier.c_str(), "--json"});
  EXPECT_EQ(by_carrier.out, by_ev.out);
}

TEST(Topo, ListsEachDifferentPathOnce) {
  const auto far = run_mrc({"topo", "path", "--planes", "4", "--from", "h0", "--to", "h3"});
  EXPECT_EQ(std::count(far.out.begin(), far.out.end(), '\n'), 8);
  const auto near = run_mrc({"topo", "path", "--planes", "4", "--from", "h0", "--to", "h1"});
  EXPECT_EQ(std::count(near.out.begin(), near.out.end(), '\n'), 4);
  const auto some = run_mrc({"topo", "path", "--planes", "4", "--from", "h0", "--to", "h3", "--limit", "2"});
  EXPECT_THAT(some.out, HasSubstr("2 of 8 paths"));
}

TEST(Topo, SaysWhichHostsAndEvsThereAre) {
  EXPECT_THAT(run_mrc({"topo", "path", "--from", "h9", "--to", "h0"}).err, HasSubstr("hosts are h0 to h3"));
  EXPECT_THAT(run_mrc({"topo", "path", "--from", "h0", "--to", "h1", "--ev", "0xffff"}).err,
              HasSubstr("the EVs are 0xc000 to 0xc001"));
  EXPECT_THAT(run_mrc({"topo", "path", "--from", "h0", "--to", "h1", "--ev", "x"}).err,
              HasSubstr("0xc003 or 49155"));
  EXPECT_THAT(run_mrc({"topo", "path", "--from", "h0", "--to", "h1", "--carrier", "::"}).err,
              HasSubstr("nowhere"));
  EXPECT_THAT(run_mrc({"topo", "touched", "p9.t0.0"}).err, HasSubstr("names look like"));
}

TEST(Topo, TouchedEvsOfALink) {
  const auto all = run_mrc({"topo", "touched", "p1.t0.1-p1.t1.0", "--planes", "2", "--json"});
  EXPECT_EQ(json::parse(all.out)["evs"], json::parse(R"(["0xc002"])"));
  const auto none =
      run_mrc({"topo", "touched", "p1.t0.1-p1.t1.0", "--planes", "2", "--from", "h0", "--to", "h1"});
  EXPECT_THAT(none.out, HasSubstr("touches no EV between these two"));
}

TEST(Topo, ComparesAsPublished) {
  const auto out = run_mrc({"topo", "compare"});
  EXPECT_EQ(out.status, 0) << out.err;
  EXPECT_THAT(out.out, HasSubstr("131072"));
  EXPECT_THAT(out.out, HasSubstr("0.391 %"));
  EXPECT_THAT(out.out, HasSubstr("0.600"));
  EXPECT_THAT(out.out, HasSubstr("0.667"));
  EXPECT_EQ(run_mrc({"topo", "compare", "--switch-ports", "63"}).status, 1);
}

TEST(Topo, DrawsSvg) {
  EXPECT_THAT(run_mrc({"topo", "draw"}).out, HasSubstr("<title>p0.t0.1-p0.t1.1</title>"));
}

TEST(Topo, EmitsEachFormat) {
  EXPECT_THAT(run_mrc({"topo", "emit", "--format", "iproute2", "--node", "p0.t0.0"}).out,
              HasSubstr("flavors next-csid"));
  EXPECT_THAT(run_mrc({"topo", "emit", "--format", "frr", "--node", "p0.t1.0"}).out,
              HasSubstr("behavior uN"));
  EXPECT_THAT(run_mrc({"topo", "emit", "--format", "sonic", "--node", "p0.t1.0"}).out,
              HasSubstr("SRV6_MY_SIDS"));
  EXPECT_THAT(run_mrc({"topo", "emit", "--format", "profiles", "--node", "h0", "--to", "h3"}).out,
              HasSubstr("[ev.4]"));
  EXPECT_THAT(run_mrc({"topo", "emit", "--format", "frr", "--node", "h0"}).err, HasSubstr("h0 is a host"));
  EXPECT_THAT(run_mrc({"topo", "emit", "--format", "profiles", "--node", "p0.t0.0"}).err,
              HasSubstr("is a switch"));
  EXPECT_THAT(run_mrc({"topo", "emit", "--format", "netlink", "--node", "h0"}).err,
              HasSubstr("on the node itself"));
  EXPECT_THAT(run_mrc({"topo", "emit", "--format", "frr"}).err, HasSubstr("--node NAME for one node"));
}

// What is slow gets fewer turns: the other EVs stand in the profile several times.
TEST(Topo, ProfilesKnowWhatIsSlow) {
  const auto evs = [](std::vector<std::string> more) {
    std::vector<std::string> words = {"topo", "emit", "--format", "profiles", "--node", "h0", "--to", "h3"};
    words.insert(words.end(), {"--planes", "1", "--t0", "2", "--t1", "2", "--hosts-per-t0", "2"});
    words.insert(words.end(), more.begin(), more.end());
    const std::string text = run_mrc(words).out;
    const auto file = parse_profiles(text, true);
    EXPECT_TRUE(file) << text;
    std::map<std::string, int> copies;
    for (const auto& e : file->evs.at(0).evs)
      ++copies[std::string(std::begin(e.ev_new.val), std::end(e.ev_new.val))];
    std::multiset<int> counts;
    for (const auto& [ev, n] : copies) counts.insert(n);
    return counts;
  };
  EXPECT_EQ(evs({}), (std::multiset<int>{1, 1}));
  EXPECT_EQ(evs({"--slow", "p0.t1.1=0.25"}), (std::multiset<int>{1, 4}));
  EXPECT_EQ(evs({"--slow", "p0.t0.0-p0.t1.1=0.5", "--slow", "p0.t1.1=0.75"}), (std::multiset<int>{1, 2}));
  EXPECT_EQ(evs({"--slow", "p0.t1.0=0.5", "--slow", "p0.t1.1=0.5"}), (std::multiset<int>{1, 1}));
  for (const char* bad : {"p0.t1.1", "p0.t1.1=0", "p0.t1.1=2", "p0.t1.1=half", "p0.t1.9=0.5"})
    EXPECT_THAT(
        run_mrc({"topo", "emit", "--format", "profiles", "--node", "h0", "--to", "h3", "--slow", bad}).err,
        HasSubstr(std::string(bad).substr(0, 7)));
}

TEST(Topo, ProfilesThatKnowWhatIsSlowStillFitAQp) {
  const std::string text =
      run_mrc({"topo",           "emit",     "--format",    "profiles", "--node", "h0",          "--to",
               "h200",           "--planes", "8",           "--t0",     "16",     "--t1",        "64",
               "--hosts-per-t0", "16",       "--per-plane", "64",       "--slow", "p0.t1.1=0.25"})
          .out;
  const auto file = parse_profiles(text, true);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->evs.at(0).evs.size(), 2 * 8 * 64 - 1u);
}

// A controller that reads the file expands its EVs to the carriers that the fabric forwards.
TEST(Topo, EmittedProfilesAreOnesThatAControllerTakes) {
  const std::string text =
      run_mrc({"topo", "emit", "--format", "profiles", "--node", "h0", "--to", "h3"}).out;
  const auto file = parse_profiles(text, true);
  ASSERT_TRUE(file) << file.error().what << "\n" << text;
  ASSERT_EQ(file->formats.size(), 1u);
  ASSERT_EQ(file->evs.size(), 1u);
  std::vector<std::uint8_t> widths;
  for (const auto& f : file->formats[0].fields) widths.push_back(f.width);
  std::vector<node::EvField> fields;
  for (const auto& f : file->evs[0].fields)
    fields.push_back({f.width, f.init_val, f.min_val, f.max_val, f.mask});
  EXPECT_EQ(node::check_widths(node::FormatMode::srv6, widths, 8), 0);
  EXPECT_EQ(node::check_fields(fields, widths), 0);
  ASSERT_GT(file->evs[0].evs.size(), 1u);
  for (const auto& e : file->evs[0].evs) {
    node::EvBits ev{};
    std::copy_n(e.ev_new.val, ev.size(), ev.begin());
    ASSERT_TRUE(node::fits(ev, fields));
    Ipv6 carrier{};
    const node::EvBits wire = node::expand(ev, fields, widths);
    std::copy_n(wire.begin(), carrier.bytes.size(), carrier.bytes.begin());
    EXPECT_THAT(text, HasSubstr(" " + to_string(carrier) + "\n"));
  }
}

TEST(Topo, EmitsAFilePerNode) {
  const auto dir = std::filesystem::temp_directory_path() / ("mrc_topo_" + std::to_string(getpid()));
  const auto out = run_mrc({"topo", "emit", "--format", "iproute2", "--planes", "2", "--out", dir.c_str()});
  EXPECT_EQ(out.status, 0) << out.err;
  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(dir)) ++files;
  EXPECT_EQ(files, 2 * 4 + 4);
  EXPECT_TRUE(std::filesystem::exists(dir / "p1.t1.0.sh"));
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace mrc::tools
