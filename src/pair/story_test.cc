// Stories of two engines: what a person would tell of MRC, checked.
#include <gtest/gtest.h>

#include "pair/pair.h"
#include "pair/stream.h"

namespace mrc::pair {
namespace {

using engine::WorkStatus;

/// Writes `count` messages of `length` and waits for all of them.
bool transfer(Pair& p, int count, std::uint32_t length, Duration limit = 100ms) {
  for (int i = 0; i < count; ++i) {
    EXPECT_EQ(p.write(0, static_cast<std::uint64_t>(i), static_cast<std::uint32_t>(i) * length, length).error,
              0);
  }
  return p.run_until([&] { return p.side(0).completions.size() == static_cast<std::size_t>(count); }, limit);
}

void expect_each_byte_once(Pair& p, std::size_t total) {
  const auto& writes = p.side(1).memory.writes();
  for (std::size_t i = 0; i < writes.size(); ++i) ASSERT_EQ(writes[i], i < total ? 1 : 0) << "byte " << i;
}

TEST(Story, AMessageArrivesWholeAndCompletes) {
  Pair p({.ports = 4});
  ASSERT_TRUE(transfer(p, 1, 100000));
  EXPECT_EQ(p.side(0).completions[0].status, WorkStatus::success);
  expect_each_byte_once(p, 100000);
  EXPECT_EQ(p.side(0).qp.requestor().counters().repairs, 0u);
}

TEST(Story, ManyMessagesCompleteInOrder) {
  Pair p({.ports = 2, .psn = {Psn(0xFFFF00), Psn(5)}});
  ASSERT_TRUE(transfer(p, 100, 10000));
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(p.side(0).completions[i].wr_id, i);
  expect_each_byte_once(p, 1000000);
}

TEST(Story, ReorderingAmongPathsRepairsNothing) {
  Pair p({.ports = 2, .evs_per_port = 32});
  Prng prng(7);
  p.network().for_each_lane([&](Lane& l) { l.delay = Duration(prng.between(1000, 60000)); });
  ASSERT_TRUE(transfer(p, 10, 100000));
  expect_each_byte_once(p, 1000000);
  EXPECT_EQ(p.side(0).qp.requestor().counters().repairs, 0u);
}

TEST(Story, OneLostPacketIsRepairedAlone) {
  Pair p({.ports = 2, .evs_per_port = 32});
  p.network().filter = [](Time, int from, const engine::Transmit& t) {
    const auto* w = std::get_if<wire::Write>(&t.packet.body);
    return !(from == 0 && w != nullptr && t.packet.psn == Psn(40) && !w->retransmitted);
  };
  ASSERT_TRUE(transfer(p, 1, 1000000));
  expect_each_byte_once(p, 1000000);
  EXPECT_EQ(p.side(0).qp.requestor().counters().repairs, 1u);
}

TEST(Story, TheLastPacketLostIsRepairedWithoutTheTimeout) {
  Pair p({.ports = 2, .evs_per_port = 32});
  p.network().filter = [](Time, int from, const engine::Transmit& t) {
    const auto* w = std::get_if<wire::Write>(&t.packet.body);
    return !(from == 0 && w != nullptr && wire::ends(w->segment) && !w->retransmitted);
  };
  ASSERT_TRUE(transfer(p, 1, 100000, 1ms));
  EXPECT_EQ(p.side(0).qp.requestor().counters().retries, 0u);
}

TEST(Story, UniformLossCostsLittle) {
  Pair p({.ports = 4, .evs_per_port = 32});
  p.network().for_each_lane([](Lane& l) { l.loss = 0.05; });
  ASSERT_TRUE(transfer(p, 10, 100000));
  expect_each_byte_once(p, 1000000);
}

TEST(Story, ADeadPlaneIsLeftWithoutAWord) {
  Pair p({.ports = 4, .evs_per_port = 32});
  ASSERT_TRUE(transfer(p, 1, 100000));
  p.network().for_port(PortId(2), [](Lane& l) { l.dead = true; });
  for (std::uint32_t i = 1; i < 10; ++i) p.write(0, i, i * 100000, 100000);
  ASSERT_TRUE(p.run_until([&] { return p.side(0).completions.size() == 10; }, 10ms));
  expect_each_byte_once(p, 1000000);
  EXPECT_EQ(p.side(0).qp.requestor().counters().retries, 0u);
}

TEST(Story, HalfOfThePlanesDieAtOnceWithoutAWord) {
  PairConfig c{.ports = 8, .evs_per_port = 16, .bytes_per_us = 12500, .delay = 5us, .seed = 3};
  c.limits.send_depth = 512;
  Stream s(c);
  s.run(200us);
  const double before = s.rate(200us);
  for (std::uint8_t port = 1; port <= 4; ++port)
    s.pair().network().for_port(PortId(port), [](Lane& l) { l.dead = true; });
  EXPECT_LE(s.settled_after(before / 2 * 0.97, 20us, 2ms), 100us) << "ten round trips";
  EXPECT_EQ(s.pair().side(0).qp.requestor().counters().retries, 0u);
}

TEST(Story, ImmediatesArriveInOrder) {
  Pair p({.ports = 2, .evs_per_port = 8});
  p.network().for_each_lane([](Lane& l) { l.loss = 0.02; });
  for (std::uint64_t i = 0; i < 50; ++i) ASSERT_EQ(p.side(1).qp.post_receive(1000 + i), 0);
  for (std::uint32_t i = 0; i < 50; ++i) p.write(0, i, i * 10000, 9999, i * 3);
  ASSERT_TRUE(p.run_until(
      [&] { return p.side(0).completions.size() == 50 && p.side(1).completions.size() == 50; }, 50ms));
  for (std::uint32_t i = 0; i < 50; ++i) {
    EXPECT_EQ(p.side(1).completions[i].imm, i * 3);
    EXPECT_EQ(p.side(1).completions[i].wr_id, 1000 + i);
  }
}

TEST(Story, AWrongKeyEndsTheQueuePairAndWritesNothing) {
  Pair p({});
  p.side(0).qp.post_send(p.now(),
                         {.wr_id = 1, .remote_va = CountingMemory::kBase, .rkey = RKey(1), .length = 64});
  p.side(0).qp.post_send(p.now(),
                         {.wr_id = 2, .remote_va = CountingMemory::kBase, .rkey = RKey(1), .length = 64});
  ASSERT_TRUE(p.run_until([&] { return p.side(0).completions.size() == 2; }, 10ms));
  EXPECT_EQ(p.side(0).completions[0].status, WorkStatus::remote_access_error);
  EXPECT_EQ(p.side(0).completions[1].status, WorkStatus::flushed);
  expect_each_byte_once(p, 0);
}

TEST(Story, APeerThatIsGoneEndsInRetryExceeded) {
  Pair p({.requestor = {.timeout = 8, .linear_retries = 2, .exponential_retries = 2}});
  p.network().for_each_lane([](Lane& l) { l.dead = true; });
  EXPECT_TRUE(transfer(p, 3, 5000, 1s));
  EXPECT_EQ(p.side(0).completions[0].status, WorkStatus::retry_exceeded);
  EXPECT_EQ(p.side(0).completions[2].status, WorkStatus::flushed);
}

// MRC-REQ-011: a peer that was asleep finds everything in its queue; a few questions are all that was wasted.
TEST(Story, APeerThatSleepsThroughTimeoutsGetsFewPacketsTwice) {
  Pair p({.ports = 4, .evs_per_port = 32, .requestor = {.timeout = 8}});
  ASSERT_TRUE(transfer(p, 1, 100000));
  for (std::uint64_t i = 0; i < 10; ++i) p.write(0, i, 0, 100000);
  p.run_for(5us);
  p.pause(1, 2ms);  // seven timeouts of 262 us
  ASSERT_TRUE(p.run_until([&] { return p.side(0).completions.size() == 11; }, 20ms));
  const auto& counters = p.side(0).qp.requestor().counters();
  EXPECT_GE(counters.retries, 3u);
  EXPECT_LE(counters.repairs, 4 * counters.retries);
}

// MRC-REQ-011: everything in flight was lost. The first answer to a question brings all of it back.
TEST(Story, ATotalOutageIsRepairedSoonAfterItEnds) {
  Pair p({.ports = 4, .evs_per_port = 32, .requestor = {.timeout = 8}});
  ASSERT_TRUE(transfer(p, 1, 100000));
  p.network().for_each_lane([](Lane& l) { l.dead = true; });
  for (std::uint64_t i = 0; i < 10; ++i) p.write(0, i, 0, 100000);
  p.run_for(1ms);
  p.network().for_each_lane([](Lane& l) { l.dead = false; });
  // Its next retry, a round trip to be heard, patience, and the transfer itself.
  ASSERT_TRUE(p.run_until([&] { return p.side(0).completions.size() == 11; }, 262us + 150us));
}

TEST(Story, TrimmedPacketsAreRepairedAtOnce) {
  Pair p({.ports = 2});
  p.network().for_each_lane([](Lane& l) { l.trim = 0.2; });
  ASSERT_TRUE(transfer(p, 5, 100000));
  expect_each_byte_once(p, 500000);
}

}  // namespace
}  // namespace mrc::pair
