// What the requestor may and may not conclude: which round trips teach, and when a plane is to blame.
#include <algorithm>
#include <optional>

#include "engine/script.h"

namespace mrc::engine {
namespace {

/// A window that remembers what it was told about round trips.
class Listener final : public Congestion {
 public:
  void on_send(Time, std::uint32_t) override {}
  void on_sack(Time, const Feedback& f) override {
    rtt = f.rtt;
    received += f.newly;
  }
  void on_trim(Time, std::uint32_t, bool) override {}
  void on_loss(Time, std::uint32_t) override {}
  void on_settled(Time, std::int64_t) override {}
  void on_unqueued(Duration d) override { unqueued = d; }
  bool may_send(std::uint32_t) const override { return true; }
  std::uint64_t window() const override { return 1 << 26; }
  std::int64_t in_flight() const override { return 0; }
  std::optional<Duration> rtt, unqueued;
  std::uint64_t received = 0;
};

class EvidenceTest : public Script {
 protected:
  void listen() { start(listener); }
  /// The peer answers the packet `trigger`, everything before which arrived.
  void answer(Psn trigger, wire::Timestamp echo) {
    listener.rtt.reset();
    feed(wire::Sack{.cack_psn = trigger, .sack_offset = 1, .echo = echo}, trigger);
  }
  /// All of `sent` arrive but one; the peer says so after 5 us.
  void acknowledge_all_but(const std::vector<Transmit>& sent, Psn missing) {
    std::uint64_t bits = 0;
    for (const Transmit& t : sent) {
      if (!is_probe(t) && t.packet.psn != missing) bits |= std::uint64_t{1} << (t.packet.psn - cack - 1);
    }
    now += 5us;
    sack(cack, bits, wire::SackMark::none, 16);
  }
  /// Eight packets on eight EVs, each of which has been answered before.
  std::vector<Transmit> send_on_known_paths() {
    evs = 8;
    start();
    post(8 * 4096);
    drain();
    now += 5us;
    sack(cack, 0, wire::SackMark::none, 16);
    post(8 * 4096);
    return drain();
  }
  void pass(Duration d) {
    now += d;
    qp->handle_timeout(now);
  }
  static Psn last_by_port_one(const std::vector<Transmit>& sent) {
    Psn last(0);
    for (const Transmit& t : sent) {
      if (!is_probe(t) && t.envelope.port == PortId(1)) last = t.packet.psn;
    }
    return last;
  }
  Listener listener;
  Psn cack{107};
};

// MRC-CC-009: base_rtt falls with each lower sample, so a short packet among full ones is none.
TEST_F(EvidenceTest, OnlyFullPacketsTeachARoundTripOnceThereWereAny) {
  listen();
  post(64);
  auto sent = drain();
  now += 3us;
  answer(Psn(100), write_of(sent[0]).timestamp);
  EXPECT_TRUE(listener.rtt.has_value()) << "nothing better is known";
  acknowledge(1);

  post(4096 + 64);
  sent = drain();
  now += 5us;
  answer(Psn(101), write_of(sent[0]).timestamp);
  EXPECT_TRUE(listener.rtt.has_value());
  answer(Psn(102), write_of(sent[1]).timestamp);
  EXPECT_FALSE(listener.rtt.has_value()) << "64 bytes cross each link sooner";
}

// MRC-REQ-007: a plane on which later packets arrived is not blamed for one silent path.
TEST_F(EvidenceTest, APlaneIsNotGivenUpForOnePathWhileItsOthersArrive) {
  auto sent = send_on_known_paths();
  const Psn lost = last_by_port_one(sent);
  const EvSlot dead = sent[static_cast<std::size_t>(lost - Psn(108))].slot;
  acknowledge_all_but(sent, lost);
  pass(4us);
  ASSERT_FALSE(drain().empty()) << "the path is asked";

  post(8 * 4096);
  sent = drain();
  acknowledge_all_but(sent, last_by_port_one(sent));
  pass(4us);
  drain();
  pass(2us);
  EXPECT_EQ(qp->paths().state(dead), EvState::assumed_bad);
  for (std::uint16_t i = 0; i < 8; ++i) {
    if (EvSlot(i) == dead) continue;
    EXPECT_EQ(qp->paths().state(EvSlot(i)), EvState::good) << "EV " << i;
  }
  // MRC-EV-014: nor does it have to answer first. Those that were heard since go on carrying.
  post(8 * 4096);
  const auto after = drain();
  EXPECT_TRUE(std::any_of(after.begin(), after.end(), [](const Transmit& t) {
    return t.envelope.port == PortId(1) && std::holds_alternative<wire::Write>(t.packet.body);
  }));
}

// MRC-EV-017
TEST_F(EvidenceTest, ATrimAcquitsAPathWhoseProbeFoundTheSameQueueFull) {
  auto sent = send_on_known_paths();
  const Psn trimmed = last_by_port_one(sent);
  const Transmit t = sent[static_cast<std::size_t>(trimmed - Psn(108))];
  acknowledge_all_but(sent, trimmed);
  pass(4us);
  const auto asked = drain();
  ASSERT_TRUE(std::any_of(asked.begin(), asked.end(), is_probe));
  EXPECT_TRUE(qp->paths().is_suspect(t.slot));

  feed(wire::Nack{.entropy = t.envelope.ev, .nack_psn = trimmed, .reason = wire::NackReason::trimmed_lasthop},
       trimmed);
  EXPECT_FALSE(qp->paths().is_suspect(t.slot));
  post(8 * 4096);
  sent = drain();
  now += 5us;
  for (const Transmit& later : sent) {
    if (!is_probe(later)) sack(cack, ~std::uint64_t{0} >> 39, wire::SackMark::none, 16);
  }
  pass(20us);
  EXPECT_EQ(qp->paths().state(t.slot), EvState::good) << "the probe was never answered";
}

// MRC-CC-026: the header of a full packet tells the round trip, unless it might be an earlier sending's.
TEST_F(EvidenceTest, ATrimAtTheReceiversPortIsARoundTripWithoutAQueue) {
  listen();
  post(4096 + 64);
  const auto sent = drain();
  const auto nack = [&](std::size_t i, wire::NackReason reason) {
    now += 3us;
    feed(wire::Nack{.entropy = sent[i].envelope.ev, .nack_psn = sent[i].packet.psn, .reason = reason},
         sent[i].packet.psn);
  };
  nack(1, wire::NackReason::trimmed_lasthop);
  EXPECT_FALSE(listener.unqueued) << "64 bytes cross each link sooner";
  nack(0, wire::NackReason::trimmed_lasthop);
  ASSERT_TRUE(listener.unqueued);
  EXPECT_NEAR(static_cast<double>(listener.unqueued->count()), 6000, 128);
}

// MRC-CC-027: or a stream whose Transport ACKs overtake its SACKs would run out of window.
TEST_F(EvidenceTest, ASackThatATransportAckOvertookStillCountsItsBytes) {
  listen();
  post(2 * 4096);
  drain();
  now += 3us;
  acknowledge(1);
  sack(Psn(100), 0, wire::SackMark::none, 17);
  EXPECT_EQ(listener.received, 17u * 256);
  sack(Psn(101), 0, wire::SackMark::none, 17);
  EXPECT_EQ(listener.received, 34u * 256);
  feed(wire::Sack{.cack_psn = Psn(100), .rcvd_bytes = 17, .sack_offset = 1}, Psn(100));
  EXPECT_EQ(listener.received, 34u * 256) << "an old report counts nothing twice";
}

// MRC-CC-020
TEST_F(EvidenceTest, ARepairedPacketIsTimedByItsEchoOnly) {
  config.requestor.timestamps = false;
  start();
  QueuePair timed(config, listener, pool);
  for (auto s : {QpState::init, QpState::rtr, QpState::rts}) timed.modify(now, s);
  timed.post_send(now, {.remote_va = 0, .rkey = kKey, .length = 64});
  Transmit t;
  ASSERT_TRUE(timed.poll_transmit(now, kAll, t));
  const wire::Nack nack{.entropy = t.envelope.ev, .nack_psn = Psn(100)};
  timed.handle_packet(now, {.dqpn = Qpn(10), .psn = Psn(100), .body = nack}, {}, *this);
  now += 5us;
  ASSERT_TRUE(timed.poll_transmit(now, kAll, t));
  EXPECT_TRUE(write_of(t).retransmitted);
  now += 5us;
  const wire::Sack answer{.cack_psn = Psn(100), .rcvd_bytes = 1, .sack_offset = 1};
  timed.handle_packet(now, {.dqpn = Qpn(10), .psn = Psn(100), .body = answer}, {}, *this);
  EXPECT_FALSE(listener.rtt);
}

}  // namespace
}  // namespace mrc::engine
