// What arrives waits for more of its kind while more is to come, and no longer.
#include "datapath/gather.h"

#include "datapath/driver_test_support.h"

namespace mrc::datapath::testing {
namespace {

constexpr std::uint32_t kPacket = 4096;

/// Two stations; the right one's port tells what waits there. A sends a window's worth at a time.
struct Gathering : Wired {
  Gathering() { right.tells_what_waits = true; }
  /// What b has read after it has had `turns` turns in which no time passes.
  std::uint64_t read(int turns = 3) {
    for (int i = 0; i < turns; ++i) b.driver.turn(now);
    return right.counters().rx_packets;
  }
  void send(std::uint32_t packets) {
    ASSERT_EQ(write(a, b, now, qps.a, 0, 0, packets * kPacket), 0);
    left.room = 8;
    a.driver.turn(now);
  }
  void send_more(std::uint32_t packets) {
    left.room = packets;
    a.driver.turn(now);
  }
  const GatherSettings settings;
  nic::testing::Pair::Qps qps = connect(a, b, now);
};

// MRC-NIC-018
TEST_F(Gathering, LittleWaitsForMoreOfALongMessage) {
  send(128);
  EXPECT_EQ(read(), 8u) << "nobody knows yet that more is to come";
  send_more(8);
  EXPECT_EQ(read(), 8u);
  EXPECT_TRUE(b.driver.turn(now)) << "who has something to read must not sleep";
  now += settings.most - 1ns;
  EXPECT_EQ(read(), 8u);
  now += 1ns;
  EXPECT_EQ(read(), 16u);
}

TEST_F(Gathering, EnoughIsReadAtOnce) {
  send(128);
  EXPECT_EQ(read(), 8u);
  send_more(8);
  EXPECT_EQ(read(), 8u);
  send_more(20);
  EXPECT_EQ(read(), 36u);
}

// MRC-NIC-018
TEST_F(Gathering, TheEndOfAMessageDoesNotWait) {
  send(28);
  EXPECT_EQ(read(), 8u);
  EXPECT_LT(20u * kPacket, settings.bytes);
  send_more(8);
  EXPECT_EQ(read(), 16u);
}

TEST_F(Gathering, WhereNothingMoreComesInThatTimeItIsNotWaitedForAgainSoon) {
  send(128);
  std::uint64_t packets = read();
  send_more(1);
  EXPECT_EQ(read(), packets);
  now += settings.most;
  EXPECT_GT(read(), packets) << "alone after all that time";
  for (std::uint32_t i = 0; i < settings.pause; ++i) {
    packets = right.counters().rx_packets;
    send_more(1);
    EXPECT_GT(read(1), packets);
  }
  packets = right.counters().rx_packets;
  send_more(1);
  EXPECT_EQ(read(), packets) << "the next bet";
  now += settings.most;
  EXPECT_GT(read(), packets) << "lost as well";
  for (std::uint32_t i = 0; i < 2 * settings.pause; ++i) {
    packets = right.counters().rx_packets;
    send_more(1);
    EXPECT_GT(read(1), packets);
  }
}

TEST_F(Gathering, APortThatCannotTellIsReadAsItComes) {
  right.tells_what_waits = false;
  send(128);
  EXPECT_EQ(read(), 8u);
  send_more(8);
  EXPECT_EQ(read(1), 16u);
}

TEST_F(Gathering, EverythingArrives) {
  ASSERT_EQ(write(a, b, now, qps.a, 0, 0, 256 * kPacket), 0);
  run();
  EXPECT_TRUE(arrived(0, 0, 256 * kPacket));
  EXPECT_EQ(a.host.poll().size(), 1u);
}

}  // namespace
}  // namespace mrc::datapath::testing
