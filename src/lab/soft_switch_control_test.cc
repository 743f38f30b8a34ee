// The switch among others: faults, strangers, neighbours, busy interfaces, and what it is told.
#include "lab/soft_switch_testing.h"

namespace mrc::lab {
namespace {

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
