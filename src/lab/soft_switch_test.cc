// The switch on ports of memory: what comes in, what goes out, and that nothing is lost, leaked or mixed up
// on the way.
#include "lab/soft_switch_testing.h"

namespace mrc::lab {
namespace {

TEST_F(SoftSwitchTest, ForwardsUpShiftedAndReaddressed) {
  start();
  const Bytes sent = frame(3, 1, 3000);
  ports[0]->arriving.push_back(sent);
  EXPECT_TRUE(sw->turn(now));
  ASSERT_EQ(ports[3]->left.size(), 1u);
  const Bytes& got = ports[3]->left[0];
  EXPECT_EQ(destination(got), "fcbb:bb00:8001:4001:e001::");
  EXPECT_EQ(Bytes(got.begin(), got.begin() + 6), Bytes({0x02, 0x40, 0, 1, 0, 0})) << "to p0.t1.1, port d0";
  EXPECT_TRUE(std::equal(sent.begin() + 14 + 40, sent.end(), got.begin() + 14 + 40))
      << "the packet inside is untouched";
  wire::Parsed parsed;
  EXPECT_EQ(wire::parse_l2(got, {}, parsed), Verdict::ok);
  EXPECT_FALSE(sw->turn(now));
}

TEST_F(SoftSwitchTest, ForwardsDownToTheHostAndLearnsItsAddress) {
  start();
  ports[0]->arriving.push_back(frame(1, 0, 100));
  sw->turn(now);
  ASSERT_EQ(ports[1]->left.size(), 1u);
  EXPECT_EQ(destination(ports[1]->left[0]), "fcbb:bb00:e001::");
  Bytes back = frame(1, 0, 100);
  std::fill_n(back.begin() + 6, 6, 0x77);
  ports[1]->arriving.push_back(back);
  ports[0]->arriving.push_back(frame(1, 0, 100));
  sw->turn(now);
  sw->turn(now);
  EXPECT_EQ(ports[1]->left.back()[0], 0x77);
}

TEST_F(SoftSwitchTest, PlainAddressesAreRoutedToo) {
  start();
  for (int i = 0; i < 4; ++i) ports[0]->arriving.push_back(frame(3, 0, 100));  // memory that was used before
  sw->turn(now);
  for (MemoryPort* p : ports) p->left.clear();
  wire::Route route;
  route.source.bytes = topo.address(topo::HostId(0), 0).bytes;
  for (const std::uint32_t to : {1u, 3u}) {
    route.destination.bytes = topo.address(topo::HostId(to), 0).bytes;
    Bytes out(1000);
    out.resize(wire::emit_l2(wire::testing::random_packet(wire::Opcode::sack, random), {}, route, {}, {}, {},
                             {}, out));
    ports[0]->arriving.push_back(out);
  }
  sw->turn(now);
  EXPECT_EQ(ports[1]->left.size(), 1u) << "the neighbour";
  ASSERT_EQ(ports[2]->left.size() + ports[3]->left.size(), 1u) << "the far host, by either uplink";
  const Bytes& far = ports[2]->left.empty() ? ports[3]->left[0] : ports[2]->left[0];
  EXPECT_EQ(destination(far), to_string(topo.address(topo::HostId(3), 0)));
}

TEST_F(SoftSwitchTest, FramesThatWaitKeepTheirBytes) {
  tuning.limit_rate = true;  // 100 Gb/s: 4000 bytes take 320 ns
  tuning.link.ecn = false;
  start();
  std::vector<Bytes> sent;
  for (int i = 0; i < 20; ++i) {
    sent.push_back(frame(3, 0, 4000));
    ports[0]->arriving.push_back(sent.back());
  }
  sw->turn(now);
  EXPECT_LT(ports[2]->left.size(), 20u) << "the link is slower than the burst";
  while (sw->next_departure() != PsTime::max()) {
    now = std::max(now, sw->next_departure());
    sw->turn(now);  // reads, and so spoils, the port's memory
  }
  ASSERT_EQ(ports[2]->left.size(), 20u);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(std::equal(sent[i].begin() + 54, sent[i].end(), ports[2]->left[i].begin() + 54,
                           ports[2]->left[i].end()))
        << i;
  }
}

TEST_F(SoftSwitchTest, TrimsWhenTheQueueIsFull) {
  tuning.limit_rate = true;
  tuning.link.data_limit = 10'000;
  start();
  for (int i = 0; i < 10; ++i) ports[0]->arriving.push_back(frame(1, 0, 4000));
  sw->turn(now);
  while (sw->next_departure() != PsTime::max()) {
    now = std::max(now, sw->next_departure());
    sw->turn(now);
  }
  int trimmed = 0;
  for (const Bytes& f : ports[1]->left) {
    wire::Parsed parsed;
    const Verdict v = wire::parse_l2(f, {}, parsed);
    if (v == Verdict::ok) continue;
    ASSERT_EQ(v, Verdict::trimmed_ok);
    EXPECT_EQ(parsed.envelope.traffic_class, TrafficClass::trimmed_lasthop);
    EXPECT_EQ(f.size(), 256u);
    ++trimmed;
  }
  EXPECT_EQ(ports[1]->left.size(), 10u) << "all arrive, whole or as a header";
  EXPECT_EQ(trimmed, static_cast<int>(sw->count(Fate::trimmed_lasthop)));
  EXPECT_GE(trimmed, 6);
}

TEST_F(SoftSwitchTest, MarksInsideTheFabric) {
  tuning.limit_rate = true;
  tuning.link.ecn_low = 4'000;
  tuning.link.ecn_high = 8'000;
  start();
  for (int i = 0; i < 10; ++i) ports[0]->arriving.push_back(frame(3, 0, 4000));
  for (int i = 0; i < 10; ++i) ports[0]->arriving.push_back(frame(1, 0, 4000));
  sw->turn(now);
  while (sw->next_departure() != PsTime::max()) {
    now = std::max(now, sw->next_departure());
    sw->turn(now);
  }
  const auto marked = [](const MemoryPort& p) {
    int n = 0;
    for (const Bytes& f : p.left) {
      wire::Parsed parsed;
      EXPECT_EQ(wire::parse_l2(f, {}, parsed), Verdict::ok);
      n += parsed.envelope.ecn == wire::Ecn::ce;
    }
    return n;
  };
  EXPECT_GE(marked(*ports[2]), 5);
  EXPECT_EQ(marked(*ports[1]), 0) << "not toward a host";
}

TEST_F(SoftSwitchTest, NoFrameLeaks) {
  tuning.limit_rate = true;
  tuning.link.data_limit = 20'000;
  start();
  sw->fabric().port(2).set_loss(0.3);
  std::size_t sent = 0;
  for (int round = 0; round < 1'100; ++round) {  // more frames than the switch has, by far
    for (int i = 0; i < 16; ++i, ++sent)
      ports[0]->arriving.push_back(frame(random.below(4), random.below(2), random.below(1000)));
    sw->turn(now);
    now += fabric::PsDuration(500'000);
    for (MemoryPort* p : ports) p->left.clear();
  }
  while (sw->next_departure() != PsTime::max()) {
    now = std::max(now, sw->next_departure());
    sw->turn(now);
  }
  EXPECT_EQ(sw->counters().received, sent);
  EXPECT_EQ(sw->counters().out_of_frames, 0u);
}

}  // namespace
}  // namespace mrc::lab
