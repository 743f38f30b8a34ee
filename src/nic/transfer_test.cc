// Two NICs talk: writes arrive, complete in order, survive loss, and share what they have.
#include <gtest/gtest.h>

#include <cstring>

#include "nic/testing.h"

namespace mrc::nic::testing {
namespace {

using engine::CompletionKind;
using engine::WorkStatus;

bool arrived(const Pair& pair, std::size_t from, std::size_t to, std::size_t length) {
  return std::memcmp(&pair.a.memory[from], &pair.b.memory[to], length) == 0;
}

TEST(Transfer, AWriteArrivesAndCompletesOnce) {
  Pair pair;
  const auto qps = pair.connect();
  ASSERT_EQ(pair.write(qps.a, 100, 5000, 300'000, 42), 0);
  ASSERT_TRUE(pair.run());
  EXPECT_TRUE(arrived(pair, 100, 5000, 300'000));
  const auto done = pair.a.poll();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0], (Cqe{42, qps.a.qpn, 300'000, 0, CompletionKind::send, WorkStatus::success, false}));
  EXPECT_TRUE(pair.b.poll().empty());
}

TEST(Transfer, SizesAroundTheMtuAndZero) {
  Pair pair;
  const auto qps = pair.connect();
  std::uint64_t id = 0;
  for (const std::uint32_t length : {0u, 1u, 3u, 8u, 255u, 4095u, 4096u, 4097u, 8192u, 12289u}) {
    ASSERT_EQ(pair.write(qps.a, 17, 40'000, length, ++id), 0);
    ASSERT_TRUE(pair.run());
    EXPECT_TRUE(arrived(pair, 17, 40'000, length)) << length;
    ASSERT_EQ(pair.a.poll().size(), 1u) << length;
  }
}

TEST(Transfer, ImmediatesCompleteAReceiveInOrder) {
  Pair pair;
  const auto qps = pair.connect();
  for (std::uint64_t i = 0; i < 20; ++i) ASSERT_EQ(pair.b.nic.post_receive(qps.b, 1000 + i), 0);
  for (std::uint32_t i = 0; i < 20; ++i)
    ASSERT_EQ(pair.write(qps.a, i * 100, i * 10'000, 9'000, i, 7 + i), 0);
  ASSERT_TRUE(pair.run());
  const auto received = pair.b.poll();
  ASSERT_EQ(received.size(), 20u);
  for (std::uint32_t i = 0; i < 20; ++i) {
    EXPECT_EQ(received[i],
              (Cqe{1000 + i, qps.b.qpn, 9'000, 7 + i, CompletionKind::receive, WorkStatus::success, true}));
  }
  EXPECT_EQ(pair.a.poll().size(), 20u);
}

TEST(Transfer, LossIsRepaired) {
  Pair pair;
  const auto qps = pair.connect();
  Prng prng(7);
  pair.filter = [&](Host&, Departure&) { return !prng.chance(0.05); };
  for (int i = 0; i < 8; ++i) ASSERT_EQ(pair.write(qps.a, 0, 0, 1 << 20, static_cast<std::uint64_t>(i)), 0);
  ASSERT_TRUE(pair.run(10s));
  EXPECT_TRUE(arrived(pair, 0, 0, 1 << 20));
  const auto done = pair.a.poll();
  ASSERT_EQ(done.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(done[i].wr_id, i);
  EXPECT_GT(qps.a.engine->requestor().counters().repairs, 50u);
}

TEST(Transfer, ManySegmentsBecomeOneMessage) {
  Pair pair;
  QpCreate made;
  made.max_sge = 4;
  const auto qps = pair.connect({}, {}, made);
  const Sge sges[] = {pair.a.local(1000, 5), pair.a.local(2000, 5000), pair.a.local(50, 0),
                      pair.a.local(9000, 4000)};
  SendRequest request{{.wr_id = 1, .remote_va = pair.b.va(0), .rkey = pair.b.key, .length = 9005}, sges};
  ASSERT_EQ(pair.a.nic.post_send(pair.now, qps.a, request), 0);
  ASSERT_TRUE(pair.run());
  EXPECT_EQ(std::memcmp(&pair.a.memory[1000], &pair.b.memory[0], 5), 0);
  EXPECT_EQ(std::memcmp(&pair.a.memory[2000], &pair.b.memory[5], 5000), 0);
  EXPECT_EQ(std::memcmp(&pair.a.memory[9000], &pair.b.memory[5005], 4000), 0);
}

TEST(Transfer, InlineBytesAreReadAtPostTime) {
  Pair pair;
  QpCreate made;
  made.max_inline = 64;
  const auto qps = pair.connect({}, {}, made);
  char text[] = "before";
  const Sge sge{reinterpret_cast<std::uint64_t>(text), 6, RKey(0xDEAD)};
  SendRequest request{
      {.wr_id = 1, .remote_va = pair.b.va(0), .rkey = pair.b.key, .length = 6}, std::span(&sge, 1), true};
  ASSERT_EQ(pair.a.nic.post_send(pair.now, qps.a, request), 0);
  std::memcpy(text, "after!", 6);
  ASSERT_TRUE(pair.run());
  EXPECT_EQ(std::memcmp(pair.b.memory.data(), "before", 6), 0);
  request.work.length = 65;
  EXPECT_EQ(pair.a.nic.post_send(pair.now, qps.a, request), EINVAL);
}

TEST(Transfer, QpsToOnePeerShareOneWindowAndAllMoveOn) {
  HostOptions options;
  options.window = 3 * 4300;  // less than one packet for each
  options.limits.qps = 64;
  Pair pair(options);
  std::vector<Qp*> senders;
  for (int i = 0; i < 40; ++i) senders.push_back(&pair.connect().a);
  EXPECT_EQ(pair.a.windows.made, 1);
  for (Qp* qp : senders) ASSERT_EQ(pair.write(*qp, 0, 0, 40'000), 0);
  ASSERT_TRUE(pair.run(10s));
  EXPECT_EQ(pair.a.poll().size(), 40u);
}

TEST(Transfer, APacedQpMovesOnWhenItsGapIsOver) {
  Pair pair;
  pair.a.windows.gap = 50us;
  const auto qps = pair.connect();
  ASSERT_EQ(pair.write(qps.a, 0, 0, 20 * 4096), 0);
  pair.run(20 * 50us + 20us, 60us);
  EXPECT_EQ(pair.a.poll().size(), 1u) << "20 packets, 50 us apart, and a round trip";
}

TEST(Transfer, AnEmptyRecordPoolIsBackPressure) {
  HostOptions options;
  options.limits.packets_in_flight = 128;  // two slabs for four QPs
  Pair pair(options);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(pair.write(pair.connect().a, 0, 0, 1 << 20), 0);
  ASSERT_TRUE(pair.run(10s));
  EXPECT_EQ(pair.a.poll().size(), 4u);
  EXPECT_EQ(pair.a.nic.pool().free_slabs(), 2u);
}

TEST(Transfer, ReceivesPostedBeforeTheConnectionCount) {
  Pair pair;
  QpCreate made;
  made.pd = PdId(1);
  made.send_cq = made.recv_cq = &pair.b.cq;
  made.recv_depth = 2;
  Qp& qp = *pair.b.nic.create_qp(made);
  EXPECT_EQ(pair.b.nic.post_receive(qp, 1), EINVAL);  // RESET
  pair.b.nic.init(qp);
  EXPECT_EQ(pair.b.nic.post_receive(qp, 1), 0);
  EXPECT_EQ(pair.b.nic.post_receive(qp, 2), 0);
  EXPECT_EQ(pair.b.nic.post_receive(qp, 3), ENOMEM);
  pair.b.nic.stop(pair.now, qp);
  const auto flushed = pair.b.poll();
  ASSERT_EQ(flushed.size(), 2u);
  EXPECT_EQ(flushed[1].wr_id, 2u);
  EXPECT_EQ(flushed[1].status, WorkStatus::flushed);
}

TEST(Transfer, StoppingFlushesEverythingOnce) {
  Pair pair;
  const auto qps = pair.connect();
  pair.filter = [](Host&, Departure&) { return false; };
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_EQ(pair.write(qps.a, 0, 0, 5000, i), 0);
  pair.run(50us);
  pair.a.nic.stop(pair.now, qps.a);
  pair.run();
  const auto done = pair.a.poll();
  ASSERT_EQ(done.size(), 5u);
  for (const Cqe& c : done) EXPECT_EQ(c.status, WorkStatus::flushed);
  EXPECT_TRUE(pair.a.diary.failed.empty());  // its owner knows
  EXPECT_EQ(pair.a.nic.pool().free_slabs() * 64, NicLimits{}.packets_in_flight);
}

TEST(Transfer, AFailedQpGivesTheSharedWindowBack) {
  HostOptions options;
  options.window = 3 * 4300;
  Pair pair(options);
  const auto doomed = pair.connect();
  const auto healthy = pair.connect();
  ASSERT_EQ(pair.write(doomed.a, 0, 0, 100'000), 0);
  pair.filter = [](Host&, Departure&) { return false; };
  pair.run(5us);
  pair.filter = nullptr;
  ASSERT_EQ(pair.write(healthy.a, 0, 0, 100'000), 0);
  pair.a.nic.stop(pair.now, doomed.a);
  ASSERT_TRUE(pair.run());
  const auto done = pair.a.poll();
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[1].qpn, healthy.a.qpn);
  EXPECT_EQ(done[1].status, WorkStatus::success);
}

TEST(Transfer, APeerThatIsGoneExhaustsTheRetries) {
  Pair pair;
  QpSend send;
  send.requestor.timeout = 8;
  send.requestor.linear_retries = 2;
  send.requestor.exponential_retries = 1;
  const auto qps = pair.connect({}, send);
  pair.filter = [](Host&, Departure&) { return false; };
  ASSERT_EQ(pair.write(qps.a, 0, 0, 5000, 1), 0);
  ASSERT_EQ(pair.write(qps.a, 0, 0, 5000, 2), 0);
  ASSERT_TRUE(pair.run(10s));
  const auto done = pair.a.poll();
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].status, WorkStatus::retry_exceeded);
  EXPECT_EQ(done[1].status, WorkStatus::flushed);
  EXPECT_EQ(pair.a.diary.failed, std::vector{qps.a.qpn});
}

TEST(Transfer, DestroyAndCreateReturnsEverything) {
  Pair pair;
  for (int i = 0; i < 1000; ++i) {
    const auto qps = pair.connect();
    ASSERT_EQ(pair.write(qps.a, 0, 0, 30'000), 0);
    pair.run(i % 3 == 0 ? Duration(1us) : Duration(1s));
    pair.a.nic.destroy_qp(pair.now, qps.a);
    pair.b.nic.destroy_qp(pair.now, qps.b);
    EXPECT_TRUE(pair.a.poll().empty());
  }
  pair.run();
  EXPECT_EQ(pair.a.nic.qp_count(), 0u);
  EXPECT_EQ(pair.a.nic.pool().free_slabs() * 64, NicLimits{}.packets_in_flight);
  EXPECT_EQ(pair.a.nic.next_timeout(), kNever);
}

}  // namespace
}  // namespace mrc::nic::testing
