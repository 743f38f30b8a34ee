// QP 2: ports that come and go, probes, and who answers.
#include <gtest/gtest.h>

#include "nic/testing.h"

namespace mrc::nic::testing {
namespace {

bool is_endpoint(const Departure& d) { return d.transmit.packet.dqpn == kEndpointQpn; }

// MRC-NIC-008
TEST(Endpoint, APortThatGoesDownMovesBothSides) {
  Pair pair;
  const auto qps = pair.connect();
  pair.a.nic.set_port(pair.now, PortId(2), false);
  bool through_port_2 = false;
  pair.filter = [&](Host&, Departure& d) {
    through_port_2 |= d.transmit.envelope.port == PortId(2) && !is_endpoint(d);
    return true;
  };
  ASSERT_TRUE(pair.run());
  EXPECT_EQ(pair.b.diary.peer_ports, std::vector{PortMask::first(1)});
  ASSERT_EQ(pair.write(qps.a, 0, 0, 100'000), 0);
  ASSERT_TRUE(pair.run());
  EXPECT_FALSE(through_port_2);
  EXPECT_FALSE(qps.b.engine->paths().port_usable(PortId(2)));
  EXPECT_EQ(pair.a.poll().size(), 1u);

  pair.a.nic.set_port(pair.now, PortId(2), true);
  ASSERT_TRUE(pair.run());
  EXPECT_TRUE(qps.b.engine->paths().port_usable(PortId(2)));
  ASSERT_EQ(pair.write(qps.a, 0, 0, 100'000), 0);
  ASSERT_TRUE(pair.run());
  EXPECT_TRUE(through_port_2);
}

// MRC-NIC-008
TEST(Endpoint, PortStatusIsRepeatedUntilAnswered) {
  Pair pair;
  pair.connect();
  int requests = 0;
  pair.filter = [&](Host&, Departure& d) {
    const bool request = std::holds_alternative<wire::EndpointRequest>(d.transmit.packet.body);
    requests += request;
    return !request || requests > 5;
  };
  pair.a.nic.set_port(pair.now, PortId(1), false);
  ASSERT_TRUE(pair.run(1s, 200ms));
  EXPECT_EQ(requests, 6);
  EXPECT_EQ(pair.b.diary.peer_ports.size(), 1u);
  EXPECT_EQ(pair.a.nic.next_timeout(), kNever);
}

TEST(Endpoint, ThePeerThatNeverAnswersIsLeftAlone) {
  Pair pair;
  pair.connect();
  pair.filter = [](Host&, Departure&) { return false; };
  pair.a.nic.set_port(pair.now, PortId(1), false);
  EXPECT_TRUE(pair.run(60s, 1s));
}

// MRC-NIC-006
TEST(Endpoint, AStrangersProbeIsAnsweredWithItsIdAndTime) {
  Pair pair;
  wire::Packet probe;
  probe.dqpn = kEndpointQpn;
  probe.psn = Psn(0xABCDEF);
  probe.body = wire::EndpointRequest{.op = wire::EndpointOp::ev_probe, .timestamp = {777}};
  const Gid stranger = address_of(99);
  EXPECT_EQ(pair.b.nic.handle(pair.now, probe, {.ev = Ev(5), .port = PortId(2)}, stranger, {}), Verdict::ok);
  Departure out;
  ASSERT_TRUE(pair.b.nic.poll_transmit(pair.now + 256ns, PortMask(~0u), out));
  EXPECT_EQ(out.to, stranger);
  EXPECT_EQ(out.transmit.envelope.port, PortId(2));
  EXPECT_EQ(out.transmit.envelope.traffic_class, wire::TrafficClass::control);
  EXPECT_EQ(out.transmit.packet.psn, Psn(0xCDEF));
  // Held for 256 ns, two ticks: service time does not count as round trip.
  EXPECT_EQ(std::get<wire::EndpointResponse>(out.transmit.packet.body),
            (wire::EndpointResponse{wire::EndpointOp::ev_probe, {779}}));
  EXPECT_FALSE(pair.b.nic.poll_transmit(pair.now, PortMask(~0u), out));
}

// MRC-NIC-012
TEST(Endpoint, AStrangersPortStatusIsRefusedAndNotAnswered) {
  Pair pair;
  const auto qps = pair.connect();
  wire::Packet update;
  update.dqpn = kEndpointQpn;
  update.body = wire::EndpointRequest{.op = wire::EndpointOp::port_status_update, .port_status = PortMask()};
  EXPECT_EQ(pair.b.nic.handle(pair.now, update, {.ev = Ev(5), .port = PortId(2)}, address_of(99), {}),
            Verdict::wrong_peer);
  EXPECT_EQ(pair.b.nic.verdicts()[Verdict::wrong_peer], 1u);
  EXPECT_TRUE(pair.b.diary.peer_ports.empty());
  EXPECT_TRUE(qps.b.engine->paths().port_usable(PortId(1)));
  Departure out;
  EXPECT_FALSE(pair.b.nic.poll_transmit(pair.now, PortMask(~0u), out));
  // The peer's own word counts.
  EXPECT_EQ(pair.b.nic.handle(pair.now, update, {.ev = Ev(5), .port = PortId(2)}, pair.a.gid, {}),
            Verdict::ok);
  EXPECT_EQ(pair.b.diary.peer_ports.size(), 1u);
}

// MRC-NODE-007
TEST(Endpoint, WhatAPeerTellsAnotherProcessIsNotedAndAnsweredUnlessThatOneAnswersEverybody) {
  Pair pair;
  const auto qps = pair.connect();
  wire::Packet update;
  update.dqpn = kEndpointQpn;
  update.psn = Psn(0x1234);
  const auto overhear = [&](const Gid& source, PortMask up, bool answered) {
    update.body = wire::EndpointRequest{.op = wire::EndpointOp::port_status_update, .port_status = up};
    pair.b.nic.overhear(pair.now, update, {.ev = Ev(5), .port = PortId(2)}, source, answered);
    Departure out;
    return pair.b.nic.poll_transmit(pair.now, PortMask(~0u), out) && out.to == source &&
           out.transmit.packet.psn == Psn(0x1234);
  };
  const auto usable = [&] { return qps.b.engine->paths().port_usable(PortId(1)); };
  PortMask second;
  second.add(PortId(2));
  EXPECT_FALSE(overhear(address_of(99), second, false));  // nobody we know
  EXPECT_TRUE(usable());
  EXPECT_TRUE(overhear(pair.a.gid, second, false));
  EXPECT_FALSE(usable());
  EXPECT_FALSE(overhear(pair.a.gid, PortMask::first(2), true));
  EXPECT_TRUE(usable());
  EXPECT_EQ(pair.b.nic.verdicts().total(), 0u);  // it was another's packet
}

TEST(Endpoint, AFloodOfRequestsIsBounded) {
  Pair pair;
  wire::Packet probe;
  probe.dqpn = kEndpointQpn;
  probe.body = wire::EndpointRequest{};
  for (int i = 0; i < 1000; ++i) pair.b.nic.handle(pair.now, probe, {.port = PortId(1)}, address_of(7), {});
  EXPECT_EQ(pair.b.nic.verdicts()[Verdict::ok], NicLimits{}.endpoint_replies);
  EXPECT_EQ(pair.b.nic.verdicts()[Verdict::no_resource], 1000u - NicLimits{}.endpoint_replies);
}

TEST(Endpoint, OwnProbesComeBackWithTheRoundTripOrAsLost) {
  Pair pair;
  int seen = 0;
  pair.filter = [&](Host&, Departure& d) {
    return !std::holds_alternative<wire::EndpointRequest>(d.transmit.packet.body) || ++seen != 2;
  };
  for (std::uint64_t i = 1; i <= 3; ++i) {
    const EndpointWork work{.to = pair.b.gid, .ev = Ev(0xC000), .port = PortId(1), .cookie = i};
    ASSERT_EQ(pair.a.nic.post_endpoint(pair.now, work), 0);
  }
  ASSERT_TRUE(pair.run(5s, 3s));
  const auto& results = pair.a.diary.endpoint_results;
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].cookie, 1u);
  EXPECT_TRUE(results[0].answered);
  EXPECT_EQ(results[0].rtt, 10us);
  EXPECT_EQ(results[1].cookie, 3u);
  EXPECT_EQ(results[2].cookie, 2u);
  EXPECT_FALSE(results[2].answered);
}

TEST(Endpoint, AnAnswerNobodyAskedForIsStale) {
  Pair pair;
  wire::Packet answer;
  answer.dqpn = kEndpointQpn;
  answer.body = wire::EndpointResponse{};
  EXPECT_EQ(pair.a.nic.handle(pair.now, answer, {.port = PortId(1)}, pair.b.gid, {}), Verdict::stale);
}

TEST(Endpoint, AnAnswerOfSomebodyElseIsStale) {
  Pair pair;
  const EndpointWork work{.to = pair.b.gid, .ev = Ev(0xC000), .port = PortId(1), .cookie = 1};
  ASSERT_EQ(pair.a.nic.post_endpoint(pair.now, work), 0);
  Departure asked;
  ASSERT_TRUE(pair.a.nic.poll_transmit(pair.now, PortMask(~0u), asked));
  wire::Packet answer;
  answer.dqpn = kEndpointQpn;
  answer.psn = asked.transmit.packet.psn;
  answer.body = wire::EndpointResponse{};
  EXPECT_EQ(pair.a.nic.handle(pair.now, answer, {.port = PortId(1)}, address_of(99), {}), Verdict::stale);
  EXPECT_EQ(pair.a.nic.verdicts()[Verdict::stale], 1u);
  EXPECT_TRUE(pair.a.diary.endpoint_results.empty());
  EXPECT_EQ(pair.a.nic.handle(pair.now, answer, {.port = PortId(1)}, pair.b.gid, {}), Verdict::ok);
  EXPECT_EQ(pair.a.diary.endpoint_results.size(), 1u);
}

}  // namespace
}  // namespace mrc::nic::testing
