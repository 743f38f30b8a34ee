// A host that stood still listens before its timers run.
#include "datapath/patience.h"

#include "datapath/driver_test_support.h"

namespace mrc::datapath::testing {
namespace {

using engine::RequestorCounters;

/// A message is on its way, and then nobody runs for three timeouts.
struct StoodStill : Wired {
  StoodStill() {
    EXPECT_EQ(write(a, b, now, qps.a, 0, 0, kBytes), 0);
    a.driver.turn(now);
    now += 50ms;
    a.driver.turn(now);
  }
  const RequestorCounters& counters() const { return qps.a.engine->requestor().counters(); }

  static constexpr std::uint32_t kBytes = 64 * 4096;
  nic::testing::Pair::Qps qps = connect(a, b, now);
};

// MRC-NIC-017: a machine that was stopped as a whole finds every timer due, and nothing that has come: its
// peer was stopped too.
TEST_F(StoodStill, NothingIsRepairedThatThePeerHadNoTimeToAnswer) {
  b.driver.turn(now);
  run();
  EXPECT_TRUE(arrived(0, 0, kBytes));
  EXPECT_EQ(a.host.poll().size(), 1u);
  EXPECT_EQ(counters().repairs, 0u);
  EXPECT_EQ(counters().retries, 0u);
}

TEST_F(StoodStill, APeerThatSaysNothingThenIsAskedAgainSoon) {
  EXPECT_EQ(counters().retries, 0u);
  EXPECT_EQ(a.driver.next_timeout(), now + PatienceSettings{}.listen);
  now += PatienceSettings{}.listen;
  a.driver.turn(now);
  EXPECT_EQ(counters().retries, 1u);
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
