// A host that stood still listens before its timers run.
#include "datapath/patience.h"

#include "datapath/driver_test_support.h"

namespace mrc::datapath::testing {
namespace {

using engine::RequestorCounters;

struct StoodStill : Wired {
  const RequestorCounters& counters(const nic::Qp& qp) { return qp.engine->requestor().counters(); }
};

// MRC-NIC-017: a machine that was stopped as a whole finds every timer due, and nothing that has come: its
// peer was stopped too.
TEST_F(StoodStill, NothingIsRepairedThatThePeerHadNoTimeToAnswer) {
  const auto qps = connect(a, b, now);
  ASSERT_EQ(write(a, b, now, qps.a, 0, 0, 64 * 4096), 0);
  a.driver.turn(now);
  now += 50ms;
  a.driver.turn(now);
  b.driver.turn(now);
  run();
  EXPECT_TRUE(arrived(0, 0, 64 * 4096));
  EXPECT_EQ(a.host.poll().size(), 1u);
  EXPECT_EQ(counters(qps.a).repairs, 0u);
  EXPECT_EQ(counters(qps.a).retries, 0u);
}

// Its first answers are of what it took first: what it has not come to yet is as old, and not lost either.
TEST_F(StoodStill, NothingIsRepairedThatThePeerComesToNext) {
  const auto qps = connect(a, b, now);
  ASSERT_EQ(write(a, b, now, qps.a, 0, 0, 240 * 4096), 0);
  a.driver.turn(now);
  now += 50ms;
  for (int i = 0; i < 4; ++i, now += 20us) {
    b.driver.turn(now);
    a.driver.turn(now);
  }
  run();
  EXPECT_TRUE(arrived(0, 0, 240 * 4096));
  EXPECT_EQ(counters(qps.a).packets, 240u);
  EXPECT_EQ(counters(qps.a).lost_by_timeout, 0u);
}

TEST_F(StoodStill, APeerThatSaysNothingThenIsAskedAgainSoon) {
  const auto qps = connect(a, b, now);
  ASSERT_EQ(write(a, b, now, qps.a, 0, 0, 64 * 4096), 0);
  a.driver.turn(now);
  now += 50ms;
  a.driver.turn(now);
  EXPECT_EQ(counters(qps.a).retries, 0u);
  EXPECT_EQ(a.driver.next_timeout(), now + PatienceSettings{}.listen);
  now += PatienceSettings{}.listen;
  a.driver.turn(now);
  EXPECT_EQ(counters(qps.a).retries, 1u);
}

TEST(Patience, TimersInTimeRunAtOnce) {
  Patience p({});
  EXPECT_FALSE(p.is_over(Time(1ms), Time(5ms))) << "nothing is due";
  EXPECT_TRUE(p.is_over(Time(5ms), Time(5ms))) << "slept until it was";
  EXPECT_TRUE(p.is_over(Time(5ms + 900us), Time(5ms)));
  EXPECT_TRUE(p.is_over(Time(6ms + 800us), Time(1ms))) << "overdue for long, but turns come by";
}

TEST(Patience, WhoIsLateEveryTimeStillRunsItsTimers) {
  Patience p({});
  int ran = 0;
  for (int turn = 1; turn <= 10; ++turn) ran += p.is_over(Time(turn * 20ms), Time(1ms));
  EXPECT_EQ(ran, 5);
}

}  // namespace
}  // namespace mrc::datapath::testing
