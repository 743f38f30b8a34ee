// Answers that wait: for the reply that a polling application posts, and no longer than they may.
#include "datapath/driver_test_support.h"

namespace mrc::datapath::testing {
namespace {

/// Of what leaves by this port from now on.
void count_sacks(MemoryPort& port, int& count) {
  port.tamper = [&count](std::string& bytes) {
    count += static_cast<std::uint8_t>(bytes[0]) == 0xDC;
    return true;
  };
}

// MRC-NIC-011
TEST_F(Wired, AReplyGoesBeforeTheAnswersOfWhatItRepliesTo) {
  const auto qps = connect(a, b, now);
  run();
  left.train_lengths.clear(), right.train_lengths.clear();
  std::vector<std::uint8_t> opcodes;
  right.tamper = [&](std::string& bytes) {
    opcodes.push_back(static_cast<std::uint8_t>(bytes[0]));
    return true;
  };
  ASSERT_EQ(write(a, b, now, qps.a, 0, 0, 8), 0);
  a.driver.transmit(now += 1us);
  EXPECT_TRUE(b.driver.glance(now += 1us));
  EXPECT_TRUE(opcodes.empty());
  ASSERT_EQ(write(b, a, now, qps.b, 0, 64, 8), 0);
  b.driver.transmit(now);
  EXPECT_EQ(opcodes, std::vector<std::uint8_t>({0xCA}));
  for (const Time until = now + HoldSettings{}.most; now <= until;)
    b.driver.glance(now += HoldSettings{}.regret);  // in time, but nothing came, and that takes too long
  // SACK and Transport ACK; and who only receives asks whether its answers get through.
  EXPECT_EQ(opcodes, std::vector<std::uint8_t>({0xCA, 0xDC, 0xD1, 0xDE}));
}

TEST_F(Wired, AConversationSharesAnswers) {
  const auto qps = connect(a, b, now);
  run();
  int answers = 0, writes = 0;
  left.tamper = right.tamper = [&](std::string& bytes) {
    const auto opcode = static_cast<std::uint8_t>(bytes[0]);
    answers += opcode == 0xDC || opcode == 0xD1;
    writes += opcode == 0xCA;
    return true;
  };
  for (int round = 0; round < 32; ++round) {
    ASSERT_EQ(write(a, b, now, qps.a, 0, 0, 8), 0);
    a.driver.transmit(now);
    b.driver.glance(now += 1us);
    ASSERT_EQ(write(b, a, now, qps.b, 0, 64, 8), 0);
    b.driver.transmit(now);
    for (int i = 0; i < 3; ++i) b.driver.glance(now += 300ns);
    a.driver.glance(now += 300ns);
    a.host.poll(), b.host.poll();
  }
  EXPECT_EQ(writes, 64);
  const auto shared = static_cast<int>(HoldSettings{}.packets);
  EXPECT_GE(answers, 2 * 64 / shared - 4);
  EXPECT_LE(answers, 2 * 64 / (shared - 1));
  now += 1ms;
  b.driver.turn(now), a.driver.turn(now), b.driver.turn(now);
  EXPECT_EQ(qps.a.engine->requestor().queue().outstanding(), 0);
  EXPECT_EQ(qps.b.engine->requestor().queue().outstanding(), 0);
}

/// A peer that waits for its completion before it goes on: the bet is lost each time, and made ever more
/// seldom.
TEST_F(Wired, APeerThatWaitsForItsCompletionIsNotKeptWaitingOften) {
  const auto qps = connect(a, b, now);
  run();
  int kept = 0;
  for (int round = 0; round < 400; ++round) {
    ASSERT_EQ(write(a, b, now, qps.a, 0, 0, 8), 0);
    a.driver.transmit(now);
    b.driver.glance(now += 1us);
    ASSERT_EQ(write(b, a, now, qps.b, 0, 64, 8), 0);
    b.driver.transmit(now);
    const Time replied = now;
    while (a.host.poll().empty()) {
      b.driver.glance(now += 300ns);
      a.driver.turn(now);
      ASSERT_LT(now - replied, HoldSettings{}.most + 10us);
    }
    kept += now - replied > 5us;
    b.driver.glance(now += 300ns);
    b.host.poll();
  }
  EXPECT_LE(kept, 12);
}

TEST_F(Wired, AReplyMayTakeAMoment) {
  const auto qps = connect(a, b, now);
  run();
  int answers = 0;
  count_sacks(right, answers);
  const auto arrive_and_poll = [&](Duration how_long) {
    EXPECT_EQ(write(a, b, now, qps.a, 0, 0, 8), 0);
    a.driver.turn(now += 1us);
    for (const Time until = now + how_long; now < until;) b.driver.glance(now += 500ns);
  };
  arrive_and_poll(HoldSettings{}.reply - 2us);
  EXPECT_EQ(answers, 0);
  ASSERT_EQ(write(b, a, now, qps.b, 0, 64, 8), 0);
  b.driver.transmit(now);
  EXPECT_EQ(answers, 0);
  b.driver.turn(now += 1us);
  EXPECT_EQ(answers, 1);
  arrive_and_poll(HoldSettings{}.reply + 2us);
  EXPECT_EQ(answers, 2) << "not for ever";
  int kept = 0;
  for (int round = 3; round < 200; ++round) {
    arrive_and_poll(2us);
    kept += answers < round;
    while (answers < round) b.driver.glance(now += 500ns);
  }
  EXPECT_LE(kept, 10) << "and ever more seldom";
}

TEST_F(Wired, WhatCameIsSeenBeforeItsAnswersLeave) {
  const auto qps = connect(a, b, now);
  run();
  int answers = 0;
  count_sacks(right, answers);
  const auto most = 2 * HoldSettings{}.packets;
  for (std::uint32_t n = 1; n < most; ++n) {
    ASSERT_EQ(write(a, b, now, qps.a, 0, 0, 8), 0);
    a.driver.transmit(now);
    b.driver.glance(now += 1us);
    EXPECT_EQ(answers, 0) << n << ": a peer that goes on does not wait for an answer";
  }
  b.driver.glance(now += 100ns);
  EXPECT_EQ(answers, 1) << "there is nothing to see, and many wait";
}

TEST_F(Wired, AnswersToAPartOfAMessageDoNotWait) {
  const auto qps = connect(a, b, now);
  run();
  int answers = 0, passed = 0;
  count_sacks(right, answers);
  left.tamper = [&](std::string&) { return ++passed <= 6; };
  ASSERT_EQ(write(a, b, now, qps.a, 0, 0, 8 * 4096), 0);
  a.driver.transmit(now);
  b.driver.glance(now += 1us);
  EXPECT_GE(answers, 1) << "nobody can reply yet";
}

TEST_F(Wired, AnswersDoNotWaitForAnApplicationThatCameBackLate) {
  const auto qps = connect(a, b, now);
  run();
  const auto arrive = [&] {
    ASSERT_EQ(write(a, b, now, qps.a, 0, 0, 8), 0);
    a.driver.turn(now += 1us);
  };
  arrive();
  b.driver.glance(now += 1us);
  EXPECT_FALSE(a.driver.turn(now));  // held
  b.driver.glance(now += 1ms);       // late
  EXPECT_TRUE(a.driver.turn(now));
  arrive();
  b.driver.glance(now += 1us);
  EXPECT_TRUE(a.driver.turn(now));  // not held again
}

}  // namespace
}  // namespace mrc::datapath::testing
