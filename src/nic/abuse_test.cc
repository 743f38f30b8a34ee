// What a peer, a stranger or a careless application may do to a NIC, and what must not come of it.
#include <gtest/gtest.h>

#include <cstring>

#include "nic/testing.h"

namespace mrc::nic::testing {
namespace {

using engine::WorkStatus;

struct Abuse : ::testing::Test {
  Abuse() : qps(pair.connect()), before(pair.b.memory) {}

  void post(std::uint64_t va, RKey key, std::uint32_t length) {
    const Sge sge = pair.a.local(0, length);
    const SendRequest request{{.wr_id = 1, .remote_va = va, .rkey = key, .length = length},
                              std::span(&sge, 1)};
    ASSERT_EQ(pair.a.nic.post_send(pair.now, qps.a, request), 0);
    pair.run();
  }
  void expect_access_error() {
    const auto done = pair.a.poll();
    ASSERT_EQ(done.size(), 1u);
    EXPECT_EQ(done[0].status, WorkStatus::remote_access_error);
    EXPECT_EQ(pair.b.memory, before);  // nothing written
    EXPECT_EQ(pair.a.diary.failed.size(), 1u);
    EXPECT_EQ(pair.b.diary.failed.size(), 1u);  // an error on both sides
  }

  Pair pair;
  Pair::Qps qps;
  std::vector<std::byte> before;
};

TEST_F(Abuse, WrongKey) {
  post(pair.b.va(0), RKey(pair.b.key.value + 1), 5000);
  expect_access_error();
}

TEST_F(Abuse, OneByteBeforeTheRegion) {
  post(pair.b.va(0) - 1, pair.b.key, 100);
  expect_access_error();
}

TEST_F(Abuse, OneBytePastTheEnd) {
  post(pair.b.va(pair.b.memory.size() - 99), pair.b.key, 100);
  expect_access_error();
}

TEST_F(Abuse, RegionOfAnotherDomain) {
  post(pair.b.va(0), pair.b.register_memory(true, PdId(2)), 100);
  expect_access_error();
}

TEST_F(Abuse, RegionWithoutRemoteWrite) {
  post(pair.b.va(0), pair.b.register_memory(false), 100);
  expect_access_error();
}

TEST_F(Abuse, RevokedRegion) {
  pair.b.nic.regions().remove(pair.b.key);
  post(pair.b.va(0), pair.b.key, 100);
  expect_access_error();
}

// MRC-NIC-009
TEST_F(Abuse, QpWithoutRemoteWrite) {
  QpConnect like;
  like.remote_write = false;
  const auto closed = pair.connect(like);
  const Sge sge = pair.a.local(0, 10);
  const SendRequest request{{.wr_id = 1, .remote_va = pair.b.va(0), .rkey = pair.b.key, .length = 10},
                            std::span(&sge, 1)};
  ASSERT_EQ(pair.a.nic.post_send(pair.now, closed.a, request), 0);
  pair.run();
  expect_access_error();
}

TEST_F(Abuse, RegionRevokedUnderFire) {
  ASSERT_EQ(pair.write(qps.a, 0, 0, 1 << 20), 0);
  pair.run(6us);  // some packets placed, many in flight
  const auto kept = pair.b.memory;
  EXPECT_NE(kept, before);
  pair.b.nic.regions().remove(pair.b.key);
  pair.run();
  EXPECT_EQ(pair.b.memory, kept);
  EXPECT_EQ(pair.a.poll().at(0).status, WorkStatus::remote_access_error);
}

// MRC-NIC-004
TEST_F(Abuse, LocalRegionRevokedBeforeThePacketsLeave) {
  ASSERT_EQ(pair.write(qps.a, 0, 0, 100'000, 5), 0);
  pair.a.nic.regions().remove(pair.a.key);
  pair.run();
  EXPECT_EQ(pair.b.memory, before);
  const auto done = pair.a.poll();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, WorkStatus::local_protection_error);
}

TEST_F(Abuse, LocalKeyOfAnotherDomain) {
  Sge sge = pair.a.local(0, 10);
  sge.lkey = pair.a.register_memory(true, PdId(9));
  const SendRequest request{{.wr_id = 1, .remote_va = pair.b.va(0), .rkey = pair.b.key, .length = 10},
                            std::span(&sge, 1)};
  ASSERT_EQ(pair.a.nic.post_send(pair.now, qps.a, request), 0);
  pair.run();
  EXPECT_EQ(pair.a.poll().at(0).status, WorkStatus::local_protection_error);
}

// MRC-NIC-003
TEST_F(Abuse, ACompletionQueueThatOverrunsSaysSo) {
  CompletionQueue small(4);
  QpCreate made;
  made.send_cq = made.recv_cq = &small;
  const auto busy = pair.connect({}, {}, made);
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_EQ(pair.write(busy.a, 0, 0, 10, i), 0);
  pair.run();
  EXPECT_EQ(pair.a.diary.overrun, std::vector{&small});
  EXPECT_EQ(busy.a.state, engine::QpState::error);
  Cqe out[16];
  ASSERT_EQ(small.poll(out), 4u);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(out[i].wr_id, i);
  pair.a.nic.destroy_qp(pair.now, busy.a);
}

// MRC-NIC-010
TEST_F(Abuse, AStrangerWithTheRightNumbersIsIgnored) {
  wire::Packet packet;
  packet.dqpn = qps.b.qpn;
  packet.body = wire::Write{.va = pair.b.va(0), .rkey = pair.b.key, .dma_length = 8, .payload = 8};
  const std::byte payload[8] = {};
  EXPECT_EQ(pair.b.nic.handle(pair.now, packet, {.port = PortId(1)}, address_of(9), payload),
            Verdict::wrong_peer);
  EXPECT_EQ(pair.b.memory, before);
  EXPECT_EQ(pair.b.nic.handle(pair.now, packet, {.port = PortId(1)}, pair.a.gid, payload), Verdict::ok);
  EXPECT_NE(pair.b.memory, before);
}

// MRC-NIC-007
TEST_F(Abuse, APacketForADestroyedQpMeetsNobody) {
  ASSERT_EQ(pair.write(qps.a, 0, 0, 5000), 0);
  const Qpn old = qps.b.qpn;
  pair.b.nic.destroy_qp(pair.now, qps.b);
  for (int i = 0; i < 200; ++i) {
    QpCreate made;
    Qp& reused = *pair.b.nic.create_qp(made);
    EXPECT_NE(reused.qpn, old);
    pair.b.nic.destroy_qp(pair.now, reused);
  }
  pair.run(1ms);
  EXPECT_GT(pair.b.nic.verdicts()[Verdict::unknown_qp], 0u);
  EXPECT_EQ(pair.b.memory, before);
}

TEST_F(Abuse, PartitionKeysMustMatch) {
  wire::Packet packet;
  packet.dqpn = qps.b.qpn;
  packet.pkey = 0x8001;
  packet.body = wire::Probe{};
  EXPECT_EQ(pair.b.nic.handle(pair.now, packet, {.port = PortId(1)}, pair.a.gid, {}), Verdict::bad_pkey);
}

/// Values that no codec would produce, or that a hostile peer would: whatever they are, memory outside the
/// region stays, and a healthy QP beside the victim works on.
wire::Packet random_packet(Prng& prng, Qpn dqpn, const Pair& pair) {
  wire::Packet p;
  p.dqpn = prng.chance(0.9) ? dqpn : Qpn(64 + prng.below(64));  // never the healthy one
  p.psn = Psn(prng.chance(0.7) ? prng.below(2000) : static_cast<std::uint32_t>(prng.next()));
  p.pkey = prng.chance(0.98) ? 0xFFFF : static_cast<std::uint16_t>(prng.next());
  const auto u16 = [&] {
    return static_cast<std::uint16_t>(prng.chance(0.5) ? prng.below(64) : prng.next());
  };
  switch (prng.below(7)) {
    case 0: {
      wire::Write w;
      w.va = pair.b.va(0) + (prng.chance(0.8) ? prng.below(1 << 20) : prng.next());
      w.rkey = prng.chance(0.9) ? pair.b.key : RKey(static_cast<std::uint32_t>(prng.next()));
      w.dma_length = prng.chance(0.5) ? prng.below(10'000) : static_cast<std::uint32_t>(prng.next());
      w.payload = static_cast<std::uint16_t>(prng.chance(0.9) ? prng.below(4097) : prng.next());
      w.imm = 1;
      w.rqmsn = u16();
      w.msn = u16();
      w.segment = static_cast<wire::Segment>(prng.below(4));
      w.has_imm = prng.chance(0.3);
      w.has_timestamp = prng.chance(0.5);
      w.retransmitted = prng.chance(0.3);
      w.ack_request = prng.chance(0.3);
      p.body = w;
      break;
    }
    case 1: {
      wire::Sack s;
      s.bitmap = prng.next();
      s.cack_psn = p.psn;
      s.rcvd_bytes = static_cast<std::uint32_t>(prng.next() & 0xFFFFFF);
      s.ack_psn_offset = static_cast<std::int16_t>(u16());
      s.sack_offset = static_cast<std::int16_t>(u16());
      s.mpr = static_cast<std::uint8_t>(prng.next());
      s.rcv_cwnd_pen = static_cast<std::uint8_t>(prng.below(128));
      s.mark = static_cast<wire::SackMark>(prng.below(3));
      s.probe_reply = prng.chance(0.3);
      s.entropy = Ev(prng.chance(0.5) ? 0xC100 + prng.below(8) : static_cast<std::uint32_t>(prng.next()));
      p.body = s;
      break;
    }
    case 2: {
      constexpr wire::NackReason kReasons[] = {wire::NackReason::trimmed, wire::NackReason::no_bitmap,
                                               wire::NackReason::psn_oor_window,
                                               wire::NackReason::no_resource};
      p.body = wire::Nack{
          .entropy = Ev(0xC100 + prng.below(8)), .nack_psn = p.psn, .reason = kReasons[prng.below(4)]};
      break;
    }
    case 3: p.body = wire::TransportAck{.msn = static_cast<std::uint32_t>(prng.next() & 0xFFFFFF)}; break;
    case 4: p.body = wire::Probe{.probe_id = u16()}; break;
    case 5:
      p.dqpn = kEndpointQpn;
      p.body = wire::EndpointRequest{.op = static_cast<wire::EndpointOp>(prng.below(2)),
                                     .port_status = PortMask(static_cast<std::uint32_t>(prng.next()) | 2)};
      break;
    default: p.body = wire::EndpointResponse{}; break;
  }
  return p;
}

TEST(Hostile, RandomPacketsNeverTouchWhatTheyMayNot) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Pair pair;
    const auto victim = pair.connect();
    const auto healthy = pair.connect();
    // The region is the middle of the memory; a peer may write there and nowhere else.
    const std::size_t low = 4096, high = pair.b.memory.size() - 4096;
    pair.b.nic.regions().remove(pair.b.key);
    pair.b.key =
        *pair.b.nic.regions().add({pair.b.va(low), high - low, pair.b.memory.data() + low, PdId(1), true});
    const auto before = pair.b.memory;
    Prng prng(seed);
    std::vector<std::byte> payload(65536, std::byte{0xEE});
    pair.write(victim.a, 0, low, 200'000);
    for (int i = 0; i < 2000; ++i) {
      Host& target = prng.chance(0.7) ? pair.b : pair.a;
      const Qpn qpn = &target == &pair.b ? victim.b.qpn : victim.a.qpn;
      const wire::Packet packet = random_packet(prng, qpn, pair);
      const auto* write = std::get_if<wire::Write>(&packet.body);
      wire::Envelope envelope;
      envelope.port = PortId(static_cast<std::uint8_t>(1 + prng.below(2)));
      envelope.ecn = static_cast<wire::Ecn>(prng.below(4));
      if (prng.chance(0.1)) envelope.traffic_class = wire::TrafficClass::trimmed;
      const std::size_t bytes =
          write != nullptr && !wire::is_trimmed(envelope.traffic_class) ? write->payload : 0;
      target.nic.handle(pair.now, packet, envelope, &target == &pair.b ? pair.a.gid : pair.b.gid,
                        std::span(payload).first(bytes));
      if (prng.chance(0.1)) pair.run(100us);
    }
    ASSERT_EQ(pair.write(healthy.a, 0, low + 500'000, 100'000, 77), 0);
    pair.run(5s);
    EXPECT_EQ(std::memcmp(before.data(), pair.b.memory.data(), low), 0) << seed;
    EXPECT_EQ(std::memcmp(&before[high], &pair.b.memory[high], before.size() - high), 0) << seed;
    bool finished = false;
    for (const Cqe& c : pair.a.poll()) finished |= c.wr_id == 77 && c.status == WorkStatus::success;
    EXPECT_TRUE(finished) << seed;
  }
}

}  // namespace
}  // namespace mrc::nic::testing
