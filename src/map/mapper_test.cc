// The mapper in virtual time: whatever single thing breaks is named, and nothing else.
#include <gtest/gtest.h>

#include "map/world_for_test.h"

namespace mrc::map {
namespace {

using Names = std::set<std::string>;

topo::Spec two_tiers() { return {.planes = 2, .tiers = 2, .t0 = 3, .t1 = 3, .hosts_per_t0 = 2}; }
topo::Spec three_tiers() {
  return {.planes = 1, .tiers = 3, .pods = 3, .t0 = 2, .t1 = 2, .t2 = 2, .hosts_per_t0 = 2};
}
/// As the lab's smallest: one host under each T0.
topo::Spec sparse() { return {.planes = 2, .tiers = 2, .t0 = 2, .t1 = 2, .hosts_per_t0 = 1}; }

constexpr Duration kWarm = 200ms;

class EachFabric : public ::testing::TestWithParam<topo::Spec (*)()> {};
INSTANTIATE_TEST_SUITE_P(Fabrics, EachFabric, ::testing::Values(two_tiers, three_tiers, sparse));

TEST_P(EachFabric, AHealthyFabricHasNoFindings) {
  World w(GetParam()());
  w.run(5s);
  EXPECT_EQ(w.named(), Names{});
  EXPECT_EQ(w.survey.links().size(), w.topo.links());  // MRC-FAB-030: every link is covered
}

// MRC-FAB-031
TEST_P(EachFabric, EverySingleDeadLinkIsNamed) {
  const auto topo = *topo::Topology::make(GetParam()());
  for (std::uint32_t l = 0; l < topo.links(); ++l) {
    World w(GetParam()());
    w.run(kWarm);
    w.set_link(topo::LinkId(l), 1);
    w.run(200ms);
    EXPECT_EQ(w.named(Fault::dead), Names{topo.name(topo::LinkId(l))});
    EXPECT_EQ(w.named(Fault::lossy), Names{});
    // Named right the first time: no other name was ever given.
    EXPECT_EQ(w.survey.events(), 1u) << topo.name(topo::LinkId(l));
  }
}

TEST_P(EachFabric, EverySingleDeadSwitchIsNamed) {
  const auto topo = *topo::Topology::make(GetParam()());
  for (std::uint32_t s = 0; s < topo.switches(); ++s) {
    World w(GetParam()());
    w.run(kWarm);
    w.set_switch(topo.switch_at(s), 1);
    w.run(300ms);
    EXPECT_EQ(w.named(), Names{topo.name(topo.switch_at(s))});
  }
}

TEST(Mapper, EveryOneWayFaultIsNamedWithItsDirection) {
  const auto topo = *topo::Topology::make(two_tiers());
  for (std::uint32_t h = 0; h < topo.links() * 2; ++h) {
    World w(two_tiers());
    w.run(kWarm);
    w.set_hop(topo::hop_at(h), 1);
    w.run(300ms);
    EXPECT_EQ(w.named(), Names{topo.name(topo::hop_at(h))});
  }
}

TEST(Mapper, ALinkIsNamedWithin100Ms) {
  const auto topo = *topo::Topology::make(two_tiers());
  for (std::uint32_t l = 0; l < topo.links(); ++l) {
    for (const Duration phase : {0ms, 7ms, 13ms, 24ms, 32ms}) {
      World w(two_tiers());
      w.run(kWarm + phase);
      w.set_link(topo::LinkId(l), 1);
      w.run(100ms);
      EXPECT_EQ(w.named(), Names{topo.name(topo::LinkId(l))}) << phase.count();
    }
  }
}

class Lossy : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Shares, Lossy, ::testing::Values(0.05, 0.1, 0.2));

TEST_P(Lossy, EveryLossyLinkIsNamedAndMeasured) {
  const auto topo = *topo::Topology::make(two_tiers());
  for (std::uint32_t l = 0; l < topo.links(); ++l) {
    World w(two_tiers(), {}, l + 100);
    w.run(kWarm);
    w.set_link(topo::LinkId(l), GetParam());
    w.run(8s);
    EXPECT_EQ(w.named(Fault::lossy), Names{topo.name(topo::LinkId(l))}) << l;
    EXPECT_EQ(w.named(Fault::dead), Names{}) << l;
    const double there_and_back = 1 - (1 - GetParam()) * (1 - GetParam());
    for (const LinkReport& r : w.survey.links()) {
      if (r.link == topo::LinkId(l)) {
        EXPECT_NEAR(r.loss, there_and_back, 0.09);
      }
    }
  }
}

// MRC-FAB-033: a gray NIC link, and which way it is gray.
TEST_P(Lossy, AGrayDirectionIsNamed) {
  for (const char* hop : {"h0>p0.t0.0", "p0.t0.0>h0", "p1.t0.1>p1.t1.2", "p1.t1.2>p1.t0.1"}) {
    World w(two_tiers());
    w.run(kWarm);
    w.set(hop, GetParam());
    w.run(8s);
    EXPECT_EQ(w.named(Fault::lossy), Names{hop});
    EXPECT_EQ(w.named(Fault::dead), Names{});
  }
}

/// What is wrong from the beginning has no better days to be compared with: a way that loses most of its
/// probes has not died behind the link that loses them.
TEST_P(EachFabric, AHeavyLossFromTheBeginningAccusesNobodyElse) {
  for (const char* link : {"h0-p0.t0.0", "p0.t0.0-p0.t1.1"}) {
    for (const double share : {0.3, 0.5, 0.7}) {
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        World w(GetParam()(), {}, seed);
        w.set(link, share);
        w.run(2s);
        for (const Event& e : w.survey.history()) {
          EXPECT_NE(e.culprit.what, What::node) << link << ' ' << share << ' ' << name(w.topo, e.culprit);
          EXPECT_EQ(w.topo.name(e.culprit.hop.link), link) << share << ' ' << name(w.topo, e.culprit);
        }
        EXPECT_FALSE(w.survey.findings().empty()) << link << ' ' << share;
      }
    }
  }
}

/// At no time does a link lose more than it may with neither a finding nor a suspect.
TEST(Mapper, WhatLosesIsASuspectUntilItIsFound) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    World w(two_tiers(), {}, seed);
    w.set("h0-p0.t0.0", 0.05);
    bool suspected = false;
    for (int step = 0; step < 200 && w.named().empty(); ++step) {
      w.run(20ms);
      const auto links = w.survey.links();
      const bool loses = std::any_of(links.begin(), links.end(),
                                     [&](const LinkReport& l) { return l.loss >= w.settings.lossy_at; });
      EXPECT_TRUE(!loses || !w.named().empty() || !w.survey.suspects().empty());
      suspected |= !w.survey.suspects().empty();
    }
    EXPECT_TRUE(suspected);
    w.run(1s);
    EXPECT_EQ(w.named(), Names{"h0-p0.t0.0"});
    EXPECT_EQ(w.survey.suspects(), std::vector<Culprit>{});
  }
}

TEST(Mapper, TwoFaultsAtATimeAreBothNamed) {
  const std::pair<const char*, const char*> pairs[] = {{"p0.t0.0-p0.t1.0", "p0.t0.1-p0.t1.2"},
                                                       {"p0.t0.0-p0.t1.0", "p0.t0.0-p0.t1.1"},
                                                       {"p0.t0.0-p0.t1.0", "h5-p0.t0.2"},
                                                       {"h0-p0.t0.0", "h0-p1.t0.0"},
                                                       {"p0.t1.1", "p1.t0.2"},
                                                       {"p0.t1.1", "h1-p0.t0.0"}};
  for (const auto& [a, b] : pairs) {
    World w(two_tiers());
    w.run(kWarm);
    w.set(a, 1);
    w.set(b, 1);
    w.run(400ms);
    EXPECT_EQ(w.named(), (Names{a, b}));
  }
}

TEST(Mapper, ADeadLinkBehindALossyOne) {
  World w(two_tiers());
  w.run(kWarm);
  w.set("h0-p0.t0.0", 0.1);
  w.set("p0.t0.0-p0.t1.1", 1);
  w.run(6s);
  EXPECT_EQ(w.named(Fault::lossy), Names{"h0-p0.t0.0"});
  EXPECT_EQ(w.named(Fault::dead), Names{"p0.t0.0-p0.t1.1"});
}

/// A node alone, with no word from others' mappers but through relays.
TEST(Mapper, OneNodeAloneNamesWhatItCanSee) {
  for (const char* what : {"h0-p0.t0.0", "p0.t0.0", "p0.t0.0-p0.t1.0", "p0.t1.0", "p0.t0.1", "h0>p1.t0.0"}) {
    World w(two_tiers(), HostId(0));
    w.run(kWarm);
    w.set(what, 1);
    w.run(400ms);
    EXPECT_EQ(w.named(), Names{what});
  }
}

TEST(Mapper, AMateThatSleepsAccusesNobody) {
  World w(two_tiers(), HostId(0));
  w.sleeping.insert(1);
  w.run(kWarm);
  EXPECT_EQ(w.named(), Names{});
  w.set("h0-p0.t0.0", 1);
  w.run(400ms);
  EXPECT_EQ(w.named(), Names{"h0-p0.t0.0"});
}

// MRC-FAB-032
TEST(Mapper, FindingsGoSlowlyAndSlowerEachTime) {
  World w(two_tiers());
  const char* link = "p0.t0.0-p0.t1.0";
  Duration last{0};
  for (int i = 0; i < 4; ++i) {
    w.run(kWarm);
    w.set(link, 1);
    w.run(300ms);
    ASSERT_EQ(w.named(), Names{link});
    w.set(link, 0);
    const Time healed = w.now;
    while (!w.named().empty() && w.now - healed < 30s) w.run(10ms);
    const Duration stayed = w.now - healed;
    EXPECT_GT(stayed, last + 500ms);
    last = stayed;
  }
  for (const Event& e : w.survey.history()) {
    EXPECT_EQ(name(w.topo, e.culprit), link);
    EXPECT_NE(e.kind, EventKind::changed) << e.at.time_since_epoch().count();
  }
  EXPECT_EQ(w.survey.events(), 8u);  // found and cleared, four times, and nothing between
}

TEST(Mapper, AFlappingLinkStaysNamed) {
  World w(two_tiers());
  w.run(kWarm);
  for (int i = 0; i < 10; ++i) {
    w.set("p0.t0.0-p0.t1.0", 1);
    w.run(200ms);
    w.set("p0.t0.0-p0.t1.0", 0);
    w.run(500ms);
    EXPECT_EQ(w.named(), Names{"p0.t0.0-p0.t1.0"});
  }
}

TEST(Mapper, ADeadPlaneMakesNoStorm) {
  World w(two_tiers());
  w.run(kWarm);
  const auto before = w.agents[0]->counters()[Count::sent];
  w.run(1s);
  const auto usual = w.agents[0]->counters()[Count::sent] - before;
  for (std::uint32_t l = 0; l < w.topo.links_per_plane(); ++l) w.set_link(topo::LinkId(l), 1);
  w.run(1s);
  EXPECT_LT(w.agents[0]->counters()[Count::sent] - before - usual, usual * 3);
}

}  // namespace
}  // namespace mrc::map
