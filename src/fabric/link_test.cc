// One link: priority, marking, trimming, dropping, timing, faults, and that every frame is counted once.
#include "fabric/link.h"

#include <gtest/gtest.h>

#include <vector>

namespace mrc::fabric {
namespace {

using wire::Ecn;
using wire::TrafficClass;

constexpr PsTime at(std::int64_t ps) { return PsTime(PsDuration(ps)); }

Frame frame(std::uint32_t bytes, TrafficClass c = TrafficClass::trimmable) {
  Frame f;
  f.bytes = bytes;
  f.traffic_class = c;
  return f;
}

class LinkTest : public testing::Test {
 protected:
  LinkSettings settings{.data_limit = 10'000,
                        .control_limit = 1'000,
                        .ecn_low = 2'000,
                        .ecn_high = 6'000,
                        .ecn = false,
                        .delay = PsDuration(1'000)};
  Prng random{1};

  /// Takes frames until none is left, each as soon as the wire is free.
  std::vector<Frame*> drain(Link& link) {
    std::vector<Frame*> out;
    while (const auto d = link.poll(link.free_at(), random)) out.push_back(d.frame);
    return out;
  }
};

TEST_F(LinkTest, SendsInOrderAtItsRateAndDelay) {
  settings.rate = Rate::bits_per_second(100'000'000'000);  // 80 ps per byte
  Link link(settings);
  Frame a = frame(1000), b = frame(500);
  EXPECT_EQ(link.offer(a, random), Fate::passed);
  EXPECT_EQ(link.offer(b, random), Fate::passed);
  EXPECT_EQ(link.data_depth(), 1500u);

  const auto first = link.poll(at(7), random);
  EXPECT_EQ(first.frame, &a);
  EXPECT_EQ(link.free_at(), at(7 + 80'000));
  EXPECT_EQ(first.arrives, at(7 + 80'000 + 1'000));
  EXPECT_FALSE(link.poll(at(80'006), random)) << "the wire is busy";
  EXPECT_EQ(link.poll(at(80'007), random).frame, &b);
  EXPECT_TRUE(link.empty());
  EXPECT_FALSE(link.poll(at(1'000'000), random));
  EXPECT_EQ(link.counters().packets, 2u);
  EXPECT_EQ(link.counters().bytes, 1500u);
  EXPECT_EQ(link.counters().max_depth, 1500u);
}

TEST(Rates, AreExactForEthernetSpeeds) {
  for (const std::uint64_t gigabits : {1, 10, 25, 40, 50, 100, 200, 400, 800, 1600}) {
    const Rate r = Rate::bits_per_second(gigabits * 1'000'000'000);
    EXPECT_EQ(r.time_for(1'000'000).count(), static_cast<std::int64_t>(8'000'000'000 / gigabits)) << gigabits;
    EXPECT_EQ(r.bits_per_second(), gigabits * 1'000'000'000);
  }
  EXPECT_EQ(Rate::bits_per_second(1'000'000).time_for(1).count(), 8'000'000);
}

// MRC-FAB-010: control, NACKs and trimmed headers go before all data that waits.
TEST_F(LinkTest, ControlGoesBeforeData) {
  Link link(settings);
  Frame d1 = frame(1000), d2 = frame(1000, TrafficClass::no_trim), c1 = frame(64, TrafficClass::control),
        c2 = frame(64, TrafficClass::trimmed), c3 = frame(64, TrafficClass::trimmed_lasthop);
  for (Frame* f : {&d1, &c1, &d2, &c2, &c3}) EXPECT_EQ(link.offer(*f, random), Fate::passed);
  EXPECT_EQ(drain(link), (std::vector<Frame*>{&c1, &c2, &c3, &d1, &d2}));
  EXPECT_EQ(link.counters().control_packets, 3u);
  EXPECT_EQ(link.counters().packets, 5u);
}

// MRC-FAB-012: no room: what may be trimmed is trimmed, the rest is dropped with a verdict.
TEST_F(LinkTest, FullQueueTrimsOrDrops) {
  Link link(settings);
  std::vector<Frame> fill(10, frame(1000));
  for (Frame& f : fill) EXPECT_EQ(link.offer(f, random), Fate::passed);
  Frame trimmable = frame(4000), retx = frame(4000, TrafficClass::trimmable_retx),
        rigid = frame(4000, TrafficClass::no_trim);
  EXPECT_EQ(link.offer(trimmable, random), Fate::trimmed);
  EXPECT_EQ(link.offer(retx, random), Fate::trimmed);
  EXPECT_EQ(link.offer(rigid, random), Fate::queue_full);
  EXPECT_EQ(link.counters().trims, 2u);
  EXPECT_EQ(link.counters().drops, 1u);
  EXPECT_EQ(rigid.bytes, 4000u) << "a dropped frame is as it came";
}

// MRC-FAB-013: the trimmed frame has the set size and the TRIMMED class, and overtakes.
TEST_F(LinkTest, TrimmedFramesShrinkChangeClassAndOvertake) {
  Link link(settings);
  std::vector<Frame> fill(10, frame(1000));
  for (Frame& f : fill) ASSERT_EQ(link.offer(f, random), Fate::passed);
  Frame f = frame(1000), small = frame(100);
  EXPECT_EQ(link.offer(f, random), Fate::trimmed);
  EXPECT_EQ(f.bytes, 256u);
  EXPECT_EQ(f.traffic_class, TrafficClass::trimmed);
  EXPECT_EQ(link.offer(small, random), Fate::trimmed);
  EXPECT_EQ(small.bytes, 100u) << "trimming never pads";
  EXPECT_EQ(link.control_depth(), 356u);
  EXPECT_EQ(drain(link)[0], &f);
}

// MRC-FAB-013: toward a host the class is TRIMMED_LASTHOP: the sender shall not blame the path.
TEST_F(LinkTest, TheLastHopSaysSo) {
  settings.toward_host = true;
  Link link(settings);
  std::vector<Frame> fill(10, frame(1000));
  for (Frame& f : fill) ASSERT_EQ(link.offer(f, random), Fate::passed);
  Frame f = frame(1000);
  EXPECT_EQ(link.offer(f, random), Fate::trimmed_lasthop);
  EXPECT_EQ(f.traffic_class, TrafficClass::trimmed_lasthop);
}

TEST_F(LinkTest, TrimmingCanBeOff) {
  settings.trim = false;
  Link link(settings);
  std::vector<Frame> fill(10, frame(1000));
  for (Frame& f : fill) ASSERT_EQ(link.offer(f, random), Fate::passed);
  Frame f = frame(1000);
  EXPECT_EQ(link.offer(f, random), Fate::queue_full);
}

TEST_F(LinkTest, EvenControlHasALimit) {
  Link link(settings);
  std::vector<Frame> control(15, frame(64, TrafficClass::control));  // 960 of 1000
  for (Frame& f : control) ASSERT_EQ(link.offer(f, random), Fate::passed);
  Frame more = frame(64, TrafficClass::control);
  EXPECT_EQ(link.offer(more, random), Fate::control_full);
  std::vector<Frame> fill(10, frame(1000));
  for (Frame& f : fill) ASSERT_EQ(link.offer(f, random), Fate::passed);
  Frame data = frame(1000);
  EXPECT_EQ(link.offer(data, random), Fate::control_full) << "no room even for its header";
  EXPECT_EQ(data.bytes, 1000u);
  EXPECT_EQ(data.traffic_class, TrafficClass::trimmable);
  EXPECT_EQ(link.counters().drops, 2u);
  EXPECT_EQ(link.counters().trims, 0u);
}

// MRC-FAB-011: by depth: none below the low threshold, all above the high one, a share between that grows.
TEST_F(LinkTest, MarksByDepth) {
  settings.ecn = true;
  settings.mark_at = MarkAt::enqueue;
  const auto share_at = [&](std::uint32_t depth) {
    int marked = 0;
    for (int i = 0; i < 1000; ++i) {
      Link link(settings);
      Frame before = frame(depth), f = frame(100);
      before.ecn = Ecn::not_ect;
      EXPECT_EQ(link.offer(before, random), Fate::passed);
      EXPECT_EQ(link.offer(f, random), Fate::passed);
      marked += f.ecn == Ecn::ce;
      EXPECT_EQ(link.counters().marks, f.ecn == Ecn::ce);
    }
    return marked;
  };
  EXPECT_EQ(share_at(2'000), 0);
  EXPECT_NEAR(share_at(3'000), 250, 60);
  EXPECT_NEAR(share_at(4'000), 500, 60);
  EXPECT_NEAR(share_at(5'000), 750, 60);
  EXPECT_EQ(share_at(6'000), 1000);
  settings.ecn_probability = 0.5;
  EXPECT_NEAR(share_at(4'000), 250, 60);
  EXPECT_EQ(share_at(6'001), 1000);
}

TEST_F(LinkTest, MarkingAtDequeueReportsTheQueueLeftBehind) {
  settings.ecn = true;
  Link link(settings);
  std::vector<Frame> fill(10, frame(1000));
  for (Frame& f : fill) ASSERT_EQ(link.offer(f, random), Fate::passed);
  drain(link);
  EXPECT_EQ(fill[0].ecn, Ecn::ce) << "9000 bytes behind it";
  EXPECT_EQ(fill[3].ecn, Ecn::ce) << "6000 bytes behind it";
  EXPECT_EQ(fill[7].ecn, Ecn::ect0) << "2000 bytes behind it";
  EXPECT_EQ(fill[9].ecn, Ecn::ect0) << "it was the last";
}

// MRC-FAB-011: no mark on the last hop, on frames that cannot carry it, or on control.
TEST_F(LinkTest, DoesNotMarkWhereItMustNot) {
  settings.ecn = true;
  settings.mark_at = MarkAt::enqueue;
  Link inside(settings);
  Frame fill = frame(9'000), not_ect = frame(100), control = frame(100, TrafficClass::control);
  not_ect.ecn = Ecn::not_ect;
  for (Frame* f : {&fill, &not_ect, &control}) ASSERT_EQ(inside.offer(*f, random), Fate::passed);
  EXPECT_EQ(not_ect.ecn, Ecn::not_ect);
  EXPECT_EQ(control.ecn, Ecn::ect0);
  EXPECT_EQ(inside.counters().marks, 0u);

  settings.toward_host = true;
  Link last(settings);
  Frame f = frame(100);
  ASSERT_EQ(last.offer(fill, random), Fate::passed);
  ASSERT_EQ(last.offer(f, random), Fate::passed);
  EXPECT_EQ(f.ecn, Ecn::ect0);
}

// MRC-FAB-015: down is known and drops at once; a black hole and random loss are seen by nobody.
TEST_F(LinkTest, FaultsAreStates) {
  Link link(settings);
  Frame waiting = frame(100), f = frame(100);
  ASSERT_EQ(link.offer(waiting, random), Fate::passed);
  link.set_state(LinkState::down);
  EXPECT_EQ(link.offer(f, random), Fate::link_down);
  const auto flushed = link.poll(link.free_at(), random);
  EXPECT_EQ(flushed.frame, &waiting);
  EXPECT_EQ(flushed.fate, Fate::link_down);
  EXPECT_EQ(link.counters().drops, 2u);
  EXPECT_EQ(link.counters().packets, 0u);

  link.set_state(LinkState::black_hole);
  ASSERT_EQ(link.offer(f, random), Fate::passed);
  const auto swallowed = link.poll(at(5), random);
  EXPECT_EQ(swallowed.frame, &f);
  EXPECT_EQ(swallowed.fate, Fate::black_hole);
  EXPECT_GT(link.free_at(), at(5)) << "it took its time on the wire";
  EXPECT_EQ(link.counters().losses, 1u);

  link.set_state(LinkState::up);
  ASSERT_EQ(link.offer(f, random), Fate::passed);
  EXPECT_EQ(link.poll(link.free_at(), random).fate, Fate::passed);
}

TEST_F(LinkTest, LosesAtRandomAsSet) {
  Link link(settings);
  const auto losses_at = [&](double probability) {
    link.set_loss(probability);
    int lost = 0;
    for (int i = 0; i < 10'000; ++i) {
      Frame f = frame(100);
      EXPECT_EQ(link.offer(f, random), Fate::passed);
      lost += link.poll(link.free_at(), random).fate == Fate::lost;
    }
    return lost;
  };
  EXPECT_NEAR(losses_at(0.2), 2'000, 150);
  EXPECT_EQ(losses_at(0), 0);
  EXPECT_EQ(losses_at(1), 10'000);
  EXPECT_NEAR(link.loss(), 1, 1e-9);
}

TEST_F(LinkTest, RateCanChangeWhileFramesWait) {
  Link link(settings);
  Frame a = frame(1000), b = frame(1000);
  ASSERT_EQ(link.offer(a, random), Fate::passed);
  ASSERT_EQ(link.offer(b, random), Fate::passed);
  ASSERT_TRUE(link.poll(at(0), random));
  EXPECT_EQ(link.free_at(), at(80'000));
  link.set_rate(Rate::bits_per_second(25'000'000'000));
  ASSERT_TRUE(link.poll(link.free_at(), random));
  EXPECT_EQ(link.free_at(), at(80'000 + 320'000));
}

TEST_F(LinkTest, PauseHoldsDataAndLetsControlPass) {
  Link link(settings);
  Frame data = frame(1000), control = frame(64, TrafficClass::control);
  ASSERT_EQ(link.offer(data, random), Fate::passed);
  link.set_paused(true);
  EXPECT_FALSE(link.has_work());
  EXPECT_FALSE(link.poll(at(0), random));
  ASSERT_EQ(link.offer(control, random), Fate::passed);
  EXPECT_EQ(link.poll(at(0), random).frame, &control);
  link.set_paused(false);
  EXPECT_EQ(link.poll(link.free_at(), random).frame, &data);
}

}  // namespace
}  // namespace mrc::fabric
