// Quality of service in virtual time: what is urgent does not wait for bulk, and QPs change while they run.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "nic/testing.h"

namespace mrc::nic::testing {
namespace {

constexpr std::uint32_t kBulk = 1 << 20, kSmall = 16 * 1024;

QpConnect at_level(std::uint8_t level) {
  QpConnect c;
  c.service_level = level;
  return c;
}

/// A window of 16 packets that eight bulk transfers fill.
struct Crowd {
  explicit Crowd(LevelPolicy policy = LevelPolicy::strict) : pair(options(policy)) {
    for (int i = 0; i < 8; ++i) pair.write(pair.connect(at_level(0)).a, 0, 0, kBulk, 100);
  }
  static HostOptions options(LevelPolicy policy) {
    HostOptions o;
    o.window = 16 * 4300;
    o.scheduler.levels = policy;
    return o;
  }
  /// How long a small transfer takes among the others.
  Duration small_at(std::uint8_t level) {
    Qp& qp = pair.connect(at_level(level)).a;
    pair.run(100us);  // bulk holds the window, and each of its QPs waits for more
    pair.a.poll();
    const Time start = pair.now;
    pair.write(qp, 0, 0, kSmall, 7);
    for (bool quiet = false; !quiet;) {
      quiet = pair.run(10us);
      for (const Cqe& done : pair.a.poll()) {
        if (done.wr_id == 7) return pair.now - start;
      }
    }
    return 1s;
  }
  Pair pair;
};

// MRC-NIC-005: the window that all QPs toward a destination share is no queue in which the urgent stand last.
TEST(Service, ASmallCriticalTransferIsNotStuckBehindBulk) {
  const Duration alike = Crowd().small_at(0), critical = Crowd().small_at(5);
  EXPECT_LE(critical, 40us);  // four packets: one round trip for a place, one for the way
  EXPECT_GE(alike, 2 * critical);
}

// MRC-NIC-005
TEST(Service, RecordsGoToTheHigherLevelFirst) {
  HostOptions few;
  few.limits.packets_in_flight = 64;
  few.window = 1 << 30;
  Pair pair(few);
  for (int i = 0; i < 4; ++i) pair.write(pair.connect(at_level(0)).a, 0, 0, kBulk, 100);
  Qp& urgent = pair.connect(at_level(9)).a;
  pair.run(200us);
  pair.a.poll();
  pair.write(urgent, 0, 0, kSmall, 7);
  pair.run(100us);
  const auto done = pair.a.poll();
  EXPECT_TRUE(std::any_of(done.begin(), done.end(), [](const Cqe& c) { return c.wr_id == 7; }));
}

// MRC-NIC-005
TEST(Service, WeightsHoldWhenTheWindowIsTheBottleneck) {
  HostOptions o = Crowd::options(LevelPolicy::weighted);
  o.scheduler.weights[0] = 1;
  o.scheduler.weights[7] = 3;
  Pair pair(o);
  std::map<Qpn, int> level;
  for (int i = 0; i < 4; ++i) {
    for (const std::uint8_t l : {0, 7}) {
      const auto qps = pair.connect(at_level(l));
      level[qps.b.qpn] = l;
      pair.write(qps.a, 0, 0, kBulk);
    }
  }
  std::map<int, int> sent;
  pair.filter = [&](Host& from, Departure& d) {
    if (&from == &pair.a && std::holds_alternative<wire::Write>(d.transmit.packet.body))
      ++sent[level[d.transmit.packet.dqpn]];
    return true;
  };
  pair.run(1ms);
  ASSERT_GT(sent[0], 100);
  // Not exact: a QP whose own SACK comes in tries again before the queue is asked.
  const double share = static_cast<double>(sent[7]) / sent[0];
  EXPECT_GT(share, 2.0);
  EXPECT_LT(share, 6.0);
}

// MRC-NIC-015
TEST(Service, ALevelRisesInMidTransfer) {
  Crowd crowd;
  Pair& pair = crowd.pair;
  Qp& qp = pair.connect(at_level(0)).a;
  pair.write(qp, 0, 0, kSmall, 7);
  pair.run(20us);
  ASSERT_EQ(pair.a.nic.adjust(qp, {.service_level = 15}), 0);
  pair.run(60us);
  EXPECT_EQ(pair.a.poll().at(0).wr_id, 7u);
  EXPECT_EQ(pair.a.nic.adjust(qp, {.service_level = 16}), EINVAL);
}

// MRC-NIC-015
TEST(Service, TimeoutAndAccessChangeWhileTheQpRuns) {
  Pair pair;
  const auto qps = pair.connect();
  pair.filter = [](Host&, Departure&) { return false; };
  pair.write(qps.a, 0, 0, 100, 7);
  QpAdjust impatient;
  impatient.requestor.timeout = 10;  // 1.05 ms
  impatient.requestor.linear_retries = 2;
  impatient.requestor.exponential_retries = 0;
  ASSERT_EQ(pair.a.nic.adjust(qps.a, impatient), 0);
  const Time start = pair.now;
  pair.run(20ms, 20ms);
  const auto done = pair.a.poll();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, engine::WorkStatus::retry_exceeded);
  EXPECT_LE(pair.now - start, 20ms);

  pair.filter = nullptr;
  const auto more = pair.connect();
  pair.b.nic.adjust(more.b, {.remote_write = false});
  pair.write(more.a, 0, 0, 100, 8);
  pair.run(5ms);
  EXPECT_EQ(pair.a.poll().at(0).status, engine::WorkStatus::remote_access_error);
}

// MRC-NIC-013
TEST(Service, RepairsAndControlKeepTheirOwnClasses) {
  Pair pair;
  QpConnect like;
  like.dscp = 12;
  const auto x = pair.connect(like);
  std::map<wire::TrafficClass, std::set<int>> dscps;
  int drop = 3;
  pair.filter = [&](Host& from, Departure& d) {
    dscps[d.transmit.envelope.traffic_class].insert(d.dscp);
    return &from != &pair.a || drop-- != 0;
  };
  pair.write(x.a, 0, 0, 100'000);
  ASSERT_TRUE(pair.run());
  using wire::TrafficClass;
  EXPECT_EQ(dscps[TrafficClass::trimmable], (std::set<int>{12}));
  EXPECT_EQ(dscps[TrafficClass::trimmable_retx], (std::set<int>{kDscpByClass}));
  EXPECT_EQ(dscps[TrafficClass::control], (std::set<int>{kDscpByClass}));
}

// MRC-NIC-014
TEST(Service, HintsReachTheControllerAndSeedsDiffer) {
  Pair pair;
  QpConnect hinted;
  hinted.hints.remote_recv_peers = 9;
  pair.connect(hinted);
  for (std::uint64_t profile = 1; profile < 4; ++profile) {
    QpConnect other;
    other.cc_profile = profile;
    pair.connect(other);
  }
  pair.connect(hinted);  // shares the first controller
  const auto& windows = pair.a.windows;
  ASSERT_EQ(windows.made, 4);
  EXPECT_EQ(windows.hints[0].remote_recv_peers, 9u);
  EXPECT_EQ(windows.hints[1], engine::CongestionHints{});
  EXPECT_EQ(std::set(windows.seeds.begin(), windows.seeds.end()).size(), 4u);
}

// MRC-NIC-014
TEST(Service, ALaterHintReachesTheSharedControllerOnce) {
  Pair pair;
  const auto x = pair.connect();
  auto& window = static_cast<FixedWindow&>(*x.a.context->congestion);
  QpConnect hinted;
  hinted.hints.remote_recv_peers = 9;
  const auto y = pair.connect(hinted);
  ASSERT_EQ(y.a.context, x.a.context);
  pair.connect(hinted);
  pair.connect();  // says nothing
  EXPECT_EQ(window.hinted, (std::vector<std::uint32_t>{9}));
  QpAdjust adjust;
  adjust.hints.remote_recv_peers = 4;
  pair.a.nic.adjust(x.a, adjust);
  EXPECT_EQ(window.hinted, (std::vector<std::uint32_t>{9, 4}));
}

}  // namespace
}  // namespace mrc::nic::testing
