// The switch on ports of memory: what comes in, what goes out, and that nothing is lost, leaked or mixed up
// on the way.
#include "lab/soft_switch.h"

#include <gtest/gtest.h>

#include <deque>

#include "lab/neighbour.h"
#include "lab/switch_control.h"
#include "lab/switch_plan.h"
#include "wire/codec.h"
#include "wire/ipv6.h"
#include "wire/testing.h"

namespace mrc::lab {
namespace {

using fabric::Fate;
using fabric::PsTime;
using Bytes = std::vector<std::uint8_t>;
using wire::TrafficClass;

/// A port whose wire is two queues. Like a real one it reuses its receive memory.
class MemoryPort final : public port::Port {
 public:
  std::deque<port::RxPacket> arriving_meta;
  std::deque<Bytes> arriving, left;
  std::size_t room = SIZE_MAX;  // trains that tx() still takes

  std::size_t tx(std::span<port::TxTrain> trains) override {
    std::size_t done = 0;
    for (; done < trains.size() && room > 0; ++done, --room) {
      Bytes frame;
      for (std::uint32_t i = 0; i < trains[done].piece_count; ++i) {
        const auto* at = static_cast<const std::uint8_t*>(trains[done].pieces[i].iov_base);
        frame.insert(frame.end(), at, at + trains[done].pieces[i].iov_len);
      }
      EXPECT_EQ(frame.size(), trains[done].packet_bytes);
      left.push_back(std::move(frame));
    }
    return done;
  }
  std::size_t rx(std::span<port::RxPacket> out) override {
    std::fill(memory_.begin(), memory_.end(), std::byte{0xEE});
    std::size_t n = 0, at = 0;
    for (; n < out.size() && !arriving.empty() && at + arriving.front().size() <= memory_.size(); ++n) {
      std::memcpy(&memory_[at], arriving.front().data(), arriving.front().size());
      out[n] = {};
      out[n].data = &memory_[at];
      out[n].size = static_cast<std::uint32_t>(arriving.front().size());
      out[n].coalesced = coalesced;
      at += arriving.front().size();
      arriving.pop_front();
    }
    return n;
  }
  int wait_fd() const override { return -1; }
  port::Link link() const override { return {.up = true, .mtu = 9000}; }
  port::Address local() const override { return {}; }
  port::Capabilities capabilities() const override { return {.layer = port::Layer::frame}; }
  const port::Counters& counters() const override { return counters_; }
  std::uint32_t coalesced = 0;

 private:
  std::vector<std::byte> memory_{1 << 20};
  port::Counters counters_;
};

/// T0 number 0 of a fabric with 2 T0s, 2 T1s and 2 hosts per T0: ports d0, d1, u0, u1.
class SoftSwitchTest : public testing::Test {
 protected:
  topo::Topology topo = *topo::Topology::make({.planes = 1, .t0 = 2, .t1 = 2, .hosts_per_t0 = 2});
  topo::Node node = topo::switch_node(0, topo::Tier::t0, 0);
  SwitchTuning tuning{.limit_rate = false};
  std::vector<MemoryPort*> ports;
  std::unique_ptr<SoftSwitch> sw;
  Prng random{3};
  PsTime now{fabric::PsDuration(1'000'000'000)};

  void start() {
    std::vector<SoftPort> setup;
    for (std::uint32_t p = 0; p < topo.ports(node); ++p) {
      auto port = std::make_unique<MemoryPort>();
      ports.push_back(port.get());
      setup.push_back({topo.port_name({node, p}),
                       std::move(port),
                       {topo.mac({node, p})},
                       {topo.mac(*topo.peer({node, p}))},
                       topo.link_local(topo.peer({node, p})->node),
                       link_settings(topo, {node, p}, tuning)});
    }
    sw = std::make_unique<SoftSwitch>(switch_settings(topo, node, tuning), std::move(setup));
  }
  Bytes frame(std::uint32_t to, std::uint32_t uplink, std::size_t payload,
              TrafficClass c = TrafficClass::trimmable) {
    const topo::Path p = topo.path(topo::HostId(0), topo::HostId(to), topo::Choice{0, uplink, 0});
    wire::Route route;
    route.source.bytes = topo.address(topo::HostId(0), 0).bytes;
    route.destination.bytes = topo.address(topo::HostId(to), 0).bytes;
    route.usid_carrier.emplace().bytes = topo.carriers(topo.usids(p)).addresses[0].bytes;
    wire::Envelope envelope;
    envelope.traffic_class = c;
    const Bytes bytes = wire::testing::random_bytes(payload, random);
    Bytes out(10'000);
    out.resize(wire::emit_l2(wire::testing::random_packet(wire::Opcode::write_only, random), envelope, route,
                             {{2, 9, 9, 9, 9, 9}}, {topo.mac({node, 0})}, bytes, {}, out));
    return out;
  }
  static std::string destination(const Bytes& f) {
    return to_string(wire::IpAddress::v6_from(f.data() + 14 + 24));
  }
};

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

TEST_F(SoftSwitchTest, ABusyInterfaceIsTriedAgain) {
  start();
  std::vector<Bytes> sent;
  for (int i = 0; i < 8; ++i) {
    sent.push_back(frame(3, 0, 2000));
    ports[0]->arriving.push_back(sent.back());
  }
  ports[2]->room = 3;
  sw->turn(now);
  EXPECT_EQ(ports[2]->left.size(), 3u);
  ports[2]->room = SIZE_MAX;
  sw->turn(now);
  ASSERT_EQ(ports[2]->left.size(), 8u);
  for (int i = 0; i < 8; ++i)
    EXPECT_TRUE(std::equal(sent[i].begin() + 54, sent[i].end(), ports[2]->left[i].begin() + 54));
}

TEST_F(SoftSwitchTest, FaultsAreThoseOfTheLink) {
  start();
  sw->fabric().port(2).set_state(fabric::LinkState::black_hole);
  sw->fabric().port(3).set_state(fabric::LinkState::down);
  ports[0]->arriving.push_back(frame(3, 0, 100));
  ports[0]->arriving.push_back(frame(3, 1, 100));
  sw->turn(now);
  EXPECT_TRUE(ports[2]->left.empty());
  EXPECT_TRUE(ports[3]->left.empty());
  EXPECT_EQ(sw->count(Fate::link_down), 1u);
  EXPECT_EQ(sw->fabric().port(2).counters().losses, 1u);
}

// MRC-FAB-018: frames from outside are refused and counted, and frames run out before memory does.
TEST_F(SoftSwitchTest, RefusesWhatIsNotTheFabrics) {
  start();
  Bytes outside = frame(3, 0, 100);
  outside[14 + 24] = 0x20;
  ports[0]->arriving.push_back(outside);
  ports[0]->arriving.push_back(Bytes(20));
  ports[0]->arriving.push_back(Bytes(100));
  sw->turn(now);
  EXPECT_EQ(sw->count(Fate::outside_locator), 1u);
  EXPECT_EQ(sw->count(Fate::not_ipv6), 2u);
  for (MemoryPort* p : ports) EXPECT_TRUE(p->left.empty());
  ports[0]->coalesced = 1400;
  Bytes tcp = frame(3, 0, 100);
  tcp[14 + 40 + 6] = 6;  // the inner next header
  ports[0]->arriving.push_back(tcp);
  sw->turn(now);
  EXPECT_EQ(sw->counters().not_segments, 1u);
  for (MemoryPort* p : ports) EXPECT_TRUE(p->left.empty());
}

TEST_F(SoftSwitchTest, AsksForPeersUntilTheyAreHeardOf) {
  start();
  ports[0]->arriving.push_back(frame(3, 0, 10));
  sw->turn(now);
  ports[2]->left.clear();
  sw->service(now);
  EXPECT_TRUE(ports[0]->left.empty()) << "it has spoken";
  ASSERT_EQ(ports[1]->left.size(), 1u);
  const Bytes question = ports[1]->left[0];
  EXPECT_EQ(Bytes(question.begin(), question.begin() + 6), Bytes({0x33, 0x33, 0xFF, 0, 0, 1}))
      << "h1 is fe80::100:0:1";
  std::array<std::uint8_t, kNeighbourBytes> answer;
  EXPECT_NE(answer_solicitation(question, topo.link_local(host_node(topo::HostId(1))), {}, answer), 0u);
  sw->service(now + fabric::PsDuration(1'000'000'000));
  EXPECT_EQ(ports[1]->left.size(), 1u) << "not too often";
  sw->service(now + fabric::PsDuration(200'000'000'000));
  EXPECT_EQ(ports[1]->left.size(), 2u);
}

TEST_F(SoftSwitchTest, ObeysAndReports) {
  start();
  EXPECT_EQ(obey(*sw, "state u0 black_hole"), "ok");
  EXPECT_EQ(sw->fabric().port(2).state(), fabric::LinkState::black_hole);
  EXPECT_EQ(obey(*sw, "state u0 up\n"), "ok");
  EXPECT_EQ(obey(*sw, "loss d1 0.25"), "ok");
  EXPECT_NEAR(sw->fabric().port(1).loss(), 0.25, 1e-6);
  EXPECT_EQ(obey(*sw, "rate u1 1G"), "ok");
  EXPECT_EQ(sw->fabric().port(3).rate().bits_per_second(), 1'000'000'000u);
  EXPECT_EQ(obey(*sw, "rate u1 default"), "ok");
  EXPECT_TRUE(sw->fabric().port(3).rate().is_unlimited());
  EXPECT_NE(obey(*sw, "stats").find("\"name\":\"u1\""), std::string::npos);
  for (const char* bad : {"", "state", "state u9 up", "state u0 sideways", "loss u0 2", "loss u0 x",
                          "rate u0 0G", "rate u0 1k", "jump u0 1", "state u0 up now", "stats u0"}) {
    EXPECT_TRUE(obey(*sw, bad).starts_with("error: ")) << bad;
  }
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

TEST_F(SoftSwitchTest, AnswersSolicitationsForItself) {
  start();
  Bytes ask(14 + 40 + 32);
  ask[12] = 0x86;
  ask[13] = 0xDD;
  std::fill_n(ask.begin() + 6, 6, 0x55);
  wire::Ipv6 ip;
  ip.source = *wire::parse_ip("fe80::100:0:1");
  ip.destination = *wire::parse_ip("ff02::1:ff00:0");
  ip.payload_length = 32;
  ip.next_header = 58;
  ip.hop_limit = 255;
  emit(ip, ask.data() + 14);
  ask[54] = 135;
  const Ipv6 own = topo.link_local(node);
  std::copy(own.bytes.begin(), own.bytes.end(), ask.begin() + 62);
  ports[1]->arriving.push_back(ask);
  sw->turn(now);
  ASSERT_EQ(ports[1]->left.size(), 1u);
  const Bytes& answer = ports[1]->left[0];
  EXPECT_EQ(answer[54], 136);
  EXPECT_EQ(answer[0], 0x55);
  const topo::Mac mac = topo.mac({node, 1});
  EXPECT_TRUE(std::equal(mac.begin(), mac.end(), answer.begin() + 80));
  ask[70] ^= 1;  // somebody else
  ports[1]->arriving.push_back(ask);
  sw->turn(now);
  EXPECT_EQ(ports[1]->left.size(), 1u);
}

}  // namespace
}  // namespace mrc::lab
