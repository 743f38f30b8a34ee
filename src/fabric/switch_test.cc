// One switch: uN, static tables, ECMP and EV forwarding, back-pressure for baselines, and its counts.
#include "fabric/switch.h"

#include <gtest/gtest.h>

#include <set>

namespace mrc::fabric {
namespace {

using wire::TrafficClass;

constexpr std::uint16_t kT0 = 0x4005, kT1 = 0x8000, kHost = 0xE000;

class SwitchTest : public testing::Test {
 protected:
  LinkSettings link{.ecn = false};
  Prng random{1};

  std::vector<Link> links(int n) { return std::vector<Link>(static_cast<std::size_t>(n), Link(link)); }
  /// A T0 with 4 hosts on ports 0-3 and 4 T1s on ports 4-7.
  Switch t0() { return Switch({.usid = kT0}, Table({{kHost, 4, 1, 0}, {kT1, 4, 1, 4}}), links(8)); }
  static Frame carrying(std::initializer_list<std::uint16_t> usids) {
    Frame f;
    f.bytes = 1000;
    std::copy(usids.begin(), usids.end(), f.usids.begin());
    return f;
  }
};

// MRC-FAB-014: own uSID consumed, next one looked up.
TEST_F(SwitchTest, ConsumesItsUsidAndForwardsByTheNext) {
  Switch sw = t0();
  Frame up = carrying({kT0, kT1 + 2, 0x4001, kHost}), down = carrying({kT0, kHost + 3});
  const auto r = sw.receive(up, random);
  EXPECT_EQ(r.fate, Fate::passed);
  EXPECT_EQ(r.port, 6);
  EXPECT_EQ(up.usid(), kT1 + 2) << "the next switch sees its own uSID first";
  EXPECT_EQ(up.hop_limit, 63);
  EXPECT_EQ(sw.receive(down, random).port, 3);
  EXPECT_EQ(sw.poll(6, PsTime{}, random).frame, &up);
  EXPECT_EQ(sw.poll(3, PsTime{}, random).frame, &down);
  EXPECT_FALSE(sw.poll(0, PsTime{}, random));
}

TEST_F(SwitchTest, TransitByAnothersUsidIsPlainForwarding) {
  Switch sw = t0();
  Frame f = carrying({kT1 + 1, kHost});
  EXPECT_EQ(sw.receive(f, random).port, 5);
  EXPECT_EQ(f.usid_at, 0) << "not ours: not consumed";
}

TEST_F(SwitchTest, NowhereToGoIsAVerdict) {
  Switch sw = t0();
  Frame spent = carrying({kT0}), unknown = carrying({kT0, 0x1234}), beyond = carrying({kHost + 4}),
        none = carrying({}), looping = carrying({kT0, kHost}),
        full = carrying({kT0, kT0, kT0, kT0, kT0, kT0});
  looping.hop_limit = 1;
  EXPECT_EQ(sw.receive(spent, random).fate, Fate::carrier_spent);
  EXPECT_EQ(sw.receive(unknown, random).fate, Fate::no_route);
  EXPECT_EQ(sw.receive(beyond, random).fate, Fate::no_route);
  EXPECT_EQ(sw.receive(none, random).fate, Fate::no_route);
  EXPECT_EQ(sw.receive(looping, random).fate, Fate::hop_limit);
  EXPECT_EQ(sw.receive(full, random).fate, Fate::carrier_spent) << "its own uSID all the way";
  EXPECT_EQ(sw.count(Fate::no_route), 3u);
  EXPECT_EQ(sw.count(Fate::carrier_spent), 2u);
  EXPECT_EQ(sw.count(Fate::hop_limit), 1u);
  EXPECT_EQ(sw.count(Fate::passed), 0u);
}

TEST_F(SwitchTest, ItsOwnUsidTwiceIsConsumedTwice) {
  Switch sw = t0();
  Frame f = carrying({kT0, kT0, kHost + 2});
  EXPECT_EQ(sw.receive(f, random).port, 2);
  EXPECT_EQ(f.usid_at, 2);
  EXPECT_EQ(f.hop_limit, 63) << "one switch, one hop";
}

TEST_F(SwitchTest, AZeroBeforeOthersLeadsNowhere) {
  Switch sw = t0();
  Frame f = carrying({kT0, 0, kHost + 2});
  EXPECT_EQ(sw.receive(f, random).fate, Fate::no_route);
}

TEST_F(SwitchTest, SixUsidsAreAFullCarrier) {
  Switch sw = t0();
  Frame f = carrying({1, 2, 3, 4, kT0, kHost + 1});
  f.usid_at = 4;
  EXPECT_EQ(sw.receive(f, random).port, 1);
  Frame last = carrying({1, 2, 3, 4, 5, kT0});
  last.usid_at = 5;
  EXPECT_EQ(sw.receive(last, random).fate, Fate::carrier_spent);
}

TEST_F(SwitchTest, QueuesOfPortsAreTheirOwn) {
  link.data_limit = 1'500;
  Switch sw = t0();
  Frame a = carrying({kT0, kHost}), b = carrying({kT0, kHost}), c = carrying({kT0, kHost + 1});
  EXPECT_EQ(sw.receive(a, random).fate, Fate::passed);
  EXPECT_EQ(sw.receive(b, random).fate, Fate::trimmed);
  EXPECT_EQ(sw.receive(c, random).fate, Fate::passed);
  EXPECT_EQ(sw.count(Fate::trimmed), 1u);
  EXPECT_EQ(sw.port(0).counters().trims, 1u);
  EXPECT_EQ(sw.port(1).counters().trims, 0u);
}

class ByDestination : public SwitchTest {
 protected:
  /// T0 number 5: its 4 hosts below, 8 uplinks above.
  Switch t0_with(Forwarding forwarding, Uplinks uplinks = {.first = 4, .count = 8}) {
    return Switch({.forwarding = forwarding, .uplinks = uplinks, .hash_salt = 9},
                  Table({{destination_key(5, 0), 4, 1, 0}}), links(12));
  }
  static Frame to(std::uint32_t destination, std::uint32_t entropy, std::uint32_t flow = 0) {
    Frame f;
    f.bytes = 100;
    f.destination = destination;
    f.entropy = entropy;
    f.flow = flow;
    return f;
  }
};

TEST_F(ByDestination, BelowGoesDown) {
  Switch sw = t0_with(Forwarding::ecmp);
  Frame f = to(destination_key(5, 2), 77);
  EXPECT_EQ(sw.receive(f, random).port, 2);
}

// MRC-FAB-016: ECMP: the same EV and flow take the same way, different ones spread evenly.
TEST_F(ByDestination, EcmpIsStablePerFlowAndEvenOverFlows) {
  Switch sw = t0_with(Forwarding::ecmp);
  std::array<int, 12> taken{};
  for (std::uint32_t ev = 0; ev < 8'000; ++ev) {
    Frame f = to(destination_key(9, 0), 0xC000 + ev, 3), again = f;
    const auto port = sw.receive(f, random).port;
    EXPECT_EQ(sw.receive(again, random).port, port);
    ++taken[port];
    while (sw.poll(port, sw.port(port).free_at(), random)) {
    }
  }
  for (int p = 0; p < 4; ++p) EXPECT_EQ(taken[p], 0);
  for (int p = 4; p < 12; ++p) EXPECT_NEAR(taken[p], 1'000, 150);
}

TEST_F(ByDestination, EcmpSeesTheFlowAndTheSalt) {
  std::set<std::uint16_t> by_flow, by_salt;
  for (std::uint32_t i = 0; i < 64; ++i) {
    Switch one = t0_with(Forwarding::ecmp);
    Frame f = to(destination_key(9, 0), 0xC000, i), g = to(destination_key(9, 0), 0xC000, 0);
    by_flow.insert(one.receive(f, random).port);
    Switch other({.forwarding = Forwarding::ecmp, .uplinks = {.first = 4, .count = 8}, .hash_salt = i},
                 Table(), links(12));
    by_salt.insert(other.receive(g, random).port);
  }
  EXPECT_EQ(by_flow.size(), 8u);
  EXPECT_EQ(by_salt.size(), 8u);
}

// MRC-FAB-016: structured EVs: the tier's field is the uplink number.
TEST_F(ByDestination, TheEvNamesTheUplink) {
  Switch sw = t0_with(Forwarding::ev, {.first = 4, .count = 8, .ev_shift = 2, .ev_bits = 3});
  for (std::uint32_t uplink = 0; uplink < 8; ++uplink) {
    Frame f = to(destination_key(9, 0), 0xC000 | uplink << 2 | 3);
    EXPECT_EQ(sw.receive(f, random).port, 4 + uplink);
  }
  Switch wide = t0_with(Forwarding::ev, {.first = 4, .count = 8, .ev_shift = 13, .ev_bits = 3});
  Frame f = to(destination_key(9, 0), 0x2'0000 | 0xC000 | 0x2000);  // path bits 13, 14, 15 = 1, 0, 1
  EXPECT_EQ(wide.receive(f, random).port, 4 + 5)
      << "a field may cross from the source port into the flow label";
}

TEST_F(ByDestination, WithoutUplinksThereIsNoRoute) {
  Switch top({.forwarding = Forwarding::ecmp}, Table({{0, 1 << 16, 1 << 16, 0}}), links(1));
  Frame below = to(destination_key(0, 7), 0), nowhere = to(destination_key(1, 7), 0);
  EXPECT_EQ(top.receive(below, random).port, 0);
  EXPECT_EQ(top.receive(nowhere, random).fate, Fate::no_route);
}

TEST_F(SwitchTest, BackPressureStopsAndReleasesTheIngressPeer) {
  link.trim = false;
  link.data_limit = 1'000'000;
  Switch sw({.usid = kT0, .pfc = {.xoff = 2'500, .xon = 1'500}}, Table({{kHost, 4, 1, 0}}), links(8));
  std::vector<Frame> frames(4, carrying({kT0, kHost}));
  std::vector<Pause> in, out;
  for (Frame& f : frames) {
    f.ingress = 5;
    in.push_back(sw.receive(f, random).pause);
  }
  EXPECT_EQ(in, (std::vector{Pause::none, Pause::none, Pause::xoff, Pause::none}));
  for (int i = 0; i < 4; ++i) out.push_back(sw.poll(0, sw.port(0).free_at(), random).pause);
  EXPECT_EQ(out, (std::vector{Pause::none, Pause::none, Pause::xon, Pause::none}));
}

TEST(Tables, LaterRangesWinWhereTheyOverlap) {
  const Table t({{100, 40, 10, 0}, {115, 10, 1, 50}, {300, 0, 1, 9}});
  EXPECT_EQ(t.find(99), std::nullopt);
  EXPECT_EQ(t.find(100), 0);
  EXPECT_EQ(t.find(114), 1);
  EXPECT_EQ(t.find(115), 50);
  EXPECT_EQ(t.find(124), 59);
  EXPECT_EQ(t.find(125), 2);
  EXPECT_EQ(t.find(129), 2);
  EXPECT_EQ(t.find(130), 3);
  EXPECT_EQ(t.find(139), 3);
  EXPECT_EQ(t.find(140), std::nullopt);
  EXPECT_EQ(t.find(300), std::nullopt);
  EXPECT_EQ(Table().find(0), std::nullopt);
}

TEST(Fates, HaveNames) {
  EXPECT_EQ(name(Fate::trimmed_lasthop), "trimmed_lasthop");
  EXPECT_EQ(explain(Fate::no_route), "no entry for its uSID or destination");
  EXPECT_FALSE(is_gone(Fate::trimmed_lasthop));
  EXPECT_TRUE(is_gone(Fate::queue_full));
}

}  // namespace
}  // namespace mrc::fabric
