// Whose packets leave first.
#include "nic/scheduler.h"

#include <gtest/gtest.h>

#include <map>

#include "engine/sizes.h"
#include "nic/testing.h"

namespace mrc::nic::testing {
namespace {

QpConnect level(std::uint8_t l) {
  QpConnect c;
  c.service_level = l;
  return c;
}

/// The QPs whose data leaves, in order, at most n packets.
std::vector<Qpn> departures(Pair& pair, int n) {
  std::vector<Qpn> order;
  Departure out;
  while (n-- > 0 && pair.a.nic.poll_transmit(pair.now, PortMask(~0u), out))
    order.push_back(out.transmit.packet.dqpn);
  return order;
}

TEST(Scheduler, RoundRobinWithinALevel) {
  Pair pair;
  const auto x = pair.connect(), y = pair.connect(), z = pair.connect();
  for (Qp* qp : {&x.a, &y.a, &z.a}) pair.write(*qp, 0, 0, 3 * 4096);
  EXPECT_EQ(departures(pair, 9),
            (std::vector{x.b.qpn, y.b.qpn, z.b.qpn, x.b.qpn, y.b.qpn, z.b.qpn, x.b.qpn, y.b.qpn, z.b.qpn}));
}

TEST(Scheduler, ASprayUnitLeavesInOnePiece) {
  Pair pair;
  QpConnect like;
  like.path_settings.spray_unit = 4;
  const auto x = pair.connect(like), y = pair.connect(like);
  for (Qp* qp : {&x.a, &y.a}) pair.write(*qp, 0, 0, 8 * 4096);
  EXPECT_EQ(departures(pair, 8),
            (std::vector{x.b.qpn, x.b.qpn, x.b.qpn, x.b.qpn, y.b.qpn, y.b.qpn, y.b.qpn, y.b.qpn}));
}

/// A window for so many packets of 4096 bytes, of which four are a spray unit.
HostOptions narrow(std::uint64_t packets) {
  HostOptions options;
  options.window = packets * engine::cc_bytes_max(4096);
  return options;
}

QpConnect units_of_four() {
  QpConnect like;
  like.path_settings.spray_unit = 4;
  return like;
}

// What one SACK frees is not dealt out packet by packet to all who wait.
TEST(Scheduler, UnitsLeaveWholeIntoAWindowThatManyShare) {
  Pair pair(narrow(10));
  std::vector<Pair::Qps> qps;
  for (int i = 0; i < 20; ++i) qps.push_back(pair.connect(units_of_four()));
  std::vector<Qpn> order;
  pair.filter = [&](Host&, Departure& d) {
    if (std::holds_alternative<wire::Write>(d.transmit.packet.body)) order.push_back(d.transmit.packet.dqpn);
    return true;
  };
  for (const auto& qp : qps) pair.write(qp.a, 0, 0, 16 * 4096);
  ASSERT_TRUE(pair.run());
  ASSERT_EQ(order.size(), 20u * 16u);
  // And each in its turn: nobody was woken for room that another had got, and lost its place.
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], qps[i / 4 % qps.size()].b.qpn) << i;
}

TEST(Scheduler, AWindowThatTheDeadHoldStillServesTheLiving) {
  Pair pair(narrow(8));
  const auto dead = pair.connect(units_of_four()), living = pair.connect(units_of_four());
  Time first = kNever;
  pair.filter = [&](Host&, Departure& d) {
    if (d.transmit.packet.dqpn == living.b.qpn) first = std::min(first, pair.now);
    return d.transmit.packet.dqpn != dead.b.qpn;
  };
  pair.write(dead.a, 0, 0, 6 * 4096);  // two packets of room are left, and nobody will free more for long
  pair.run(10us, 1us);
  const Time posted = pair.now;
  pair.write(living.a, 0, 0, 8 * 4096);
  pair.run(5ms, 5ms);
  EXPECT_GE(first - posted, SchedulerSettings{}.unit_patience);
  EXPECT_LT(first - posted, 2 * SchedulerSettings{}.unit_patience);
}

// MRC-NIC-005
TEST(Scheduler, StrictLevelsLetTheHigherGoFirst) {
  Pair pair;
  const auto bulk = pair.connect(level(0)), urgent = pair.connect(level(3));
  pair.write(bulk.a, 0, 0, 10 * 4096);
  EXPECT_EQ(departures(pair, 2), (std::vector{bulk.b.qpn, bulk.b.qpn}));
  pair.write(urgent.a, 0, 0, 2 * 4096);
  EXPECT_EQ(departures(pair, 3), (std::vector{urgent.b.qpn, urgent.b.qpn, bulk.b.qpn}));
}

// MRC-NIC-005
TEST(Scheduler, WeightedLevelsShare) {
  HostOptions options;
  options.scheduler.levels = LevelPolicy::weighted;
  Pair pair(options);
  const auto low = pair.connect(level(0)), high = pair.connect(level(2));  // weights 1 and 3
  pair.write(low.a, 0, 0, 1 << 19);
  pair.write(high.a, 0, 0, 1 << 19);
  std::map<Qpn, int> count;
  for (const Qpn qpn : departures(pair, 80)) ++count[qpn];
  EXPECT_EQ(count[low.b.qpn], 20);
  EXPECT_EQ(count[high.b.qpn], 60);
}

// MRC-NIC-011
TEST(Scheduler, ControlLeavesBeforeAnybodysData) {
  Pair pair;
  const auto data = pair.connect(level(15)), other = pair.connect(level(0));
  pair.write(data.a, 0, 0, 20 * 4096);
  wire::Packet probe;
  probe.dqpn = other.a.qpn;
  probe.body = wire::Probe{.probe_id = 3};
  pair.a.nic.handle(pair.now, probe, {.port = PortId(1)}, pair.b.gid, {});
  Departure out;
  ASSERT_TRUE(pair.a.nic.poll_transmit(pair.now, PortMask(~0u), out));
  EXPECT_TRUE(std::holds_alternative<wire::Sack>(out.transmit.packet.body));
  EXPECT_EQ(out.transmit.packet.dqpn, other.b.qpn);
}

TEST(Scheduler, OnlyPortsWithRoomAreUsed) {
  Pair pair;
  const auto x = pair.connect();
  pair.write(x.a, 0, 0, 20 * 4096);
  Departure out;
  for (int i = 0; i < 5; ++i) {
    PortMask one;
    one.add(PortId(2));
    ASSERT_TRUE(pair.a.nic.poll_transmit(pair.now, one, out));
    EXPECT_EQ(out.transmit.envelope.port, PortId(2));
  }
  EXPECT_FALSE(pair.a.nic.poll_transmit(pair.now, PortMask{}, out));
  EXPECT_TRUE(pair.a.nic.poll_transmit(pair.now, PortMask(~0u), out));
}

TEST(Scheduler, TheDscpOfAQpIsOnItsDataOnly) {
  Pair pair;
  QpConnect like;
  like.dscp = 12;
  const auto x = pair.connect(like);
  bool data_ok = true, control_ok = true;
  pair.filter = [&](Host&, Departure& d) {
    if (d.transmit.envelope.traffic_class == wire::TrafficClass::control) {
      control_ok &= d.dscp == kDscpByClass;
    } else {
      data_ok &= d.dscp == 12;
    }
    return true;
  };
  pair.write(x.a, 0, 0, 100'000);
  ASSERT_TRUE(pair.run());
  EXPECT_TRUE(data_ok);
  EXPECT_TRUE(control_ok);
}

}  // namespace
}  // namespace mrc::nic::testing
