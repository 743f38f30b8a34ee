// What a UdpPort carries: packets and trains, with their paths and classes.
#include "base/prng.h"
#include "port/udp_port_test_support.h"

namespace mrc::port {

INSTANTIATE_TEST_SUITE_P(Families, UdpPortTest, ::testing::Values(AF_INET, AF_INET6),
                         [](const auto& param) { return param.param == AF_INET ? "v4" : "v6"; });

namespace {

// MRC-PORT-003
TEST_P(UdpPortTest, CarriesOnePacketWithItsPathAndClass) {
  TestTrain out(pattern(700), 700, right_address_, 50001);
  out.train.tos = 18 << 2 | 2;
  out.train.flow_label = 0x1BEEF;
  ASSERT_EQ(left_->tx({&out.train, 1}), 1u);
  EXPECT_EQ(out.train.error, 0);

  const auto got = receive(*right_, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].bytes, out.bytes);
  EXPECT_EQ(got[0].from, left_address_);
  EXPECT_EQ(got[0].to, right_address_);
  EXPECT_EQ(got[0].source_port, 50001);
  EXPECT_EQ(got[0].tos, 18 << 2 | 2);
  EXPECT_GT(got[0].arrival_ns, 0);
  EXPECT_EQ(left_->capabilities().flow_label, !v4());
  EXPECT_EQ(got[0].flow_label, v4() ? 0u : 0x1BEEFu);
}

TEST_P(UdpPortTest, CarriesATrainInOneMessageAndShowsItsPackets) {
  TestTrain out(pattern(7 * 4160 + 1000), 4160, right_address_, 50002, 1333);
  ASSERT_EQ(out.train.packets, 8);
  ASSERT_EQ(left_->tx({&out.train, 1}), 1u);
  const auto got = receive(*right_, 8);
  ASSERT_EQ(got.size(), 8u);
  std::string joined;
  for (const Arrival& packet : got) joined += packet.bytes;
  EXPECT_EQ(joined, out.bytes);
  EXPECT_EQ(got[0].bytes.size(), 4160u);
  EXPECT_EQ(got[7].bytes.size(), 1000u);
  EXPECT_EQ(left_->counters().tx_packets, 8u);
  EXPECT_EQ(right_->counters().rx_packets, 8u);
  EXPECT_EQ(right_->counters().rx_bytes, out.bytes.size());
}

TEST_P(UdpPortTest, TakesTheLongestTrainThatItPromises) {
  const Capabilities can = left_->capabilities();
  TestTrain out(pattern(can.max_train_bytes), 4160, right_address_, 50003, 4096);
  ASSERT_EQ(left_->tx({&out.train, 1}), 1u);
  ASSERT_EQ(out.train.error, 0);
  EXPECT_EQ(receive(*right_, out.train.packets).size(), out.train.packets);
  TestTrain many(pattern(can.max_train * 64), 64, right_address_, 50003);
  ASSERT_EQ(left_->tx({&many.train, 1}), 1u);
  ASSERT_EQ(many.train.error, 0);
  EXPECT_EQ(receive(*right_, can.max_train).size(), can.max_train);
}

TEST_P(UdpPortTest, KeepsTheRestOfATrainForTheNextCall) {
  TestTrain out(pattern(10 * 100), 100, right_address_, 50004);
  ASSERT_EQ(left_->tx({&out.train, 1}), 1u);
  pollfd ready{right_->wait_fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&ready, 1, 2000), 1);
  RxPacket three[3];
  std::string joined;
  for (std::size_t n; (n = right_->rx(three)) != 0;)
    for (std::size_t i = 0; i < n; ++i)
      joined.append(reinterpret_cast<const char*>(three[i].data), three[i].size);
  EXPECT_EQ(joined, out.bytes);
}

TEST_P(UdpPortTest, SendsABurstOverSeveralPathsInOrder) {
  std::vector<std::unique_ptr<TestTrain>> trains;
  std::vector<TxTrain> burst;
  for (unsigned i = 0; i < 200; ++i) {
    trains.push_back(
        std::make_unique<TestTrain>(pattern(200 + i, i), 200 + i, right_address_, 51000 + i % 16));
    burst.push_back(trains.back()->train);
  }
  ASSERT_EQ(left_->tx(burst), 200u);
  const auto got = receive(*right_, 200);
  ASSERT_EQ(got.size(), 200u);
  for (unsigned i = 0; i < 200; ++i) {
    EXPECT_EQ(got[i].bytes, trains[i]->bytes);
    EXPECT_EQ(got[i].source_port, 51000 + i % 16);
  }
}

/// Paths in steady use move to connected sockets: nothing of it may show, whatever changes from train to
/// train.
TEST_P(UdpPortTest, SteadyPathsAreCarriedAsTheOthersAre) {
  struct Way {
    std::uint16_t source_port;
    std::uint32_t flow_label;
    std::uint8_t tos;
  };
  const Way ways[] = {{52000, 1, 0x4A}, {52000, 1, 0xB8}, {52000, 2, 0x4A}, {52001, 1, 0x4A}};
  for (unsigned i = 0; i < 400; ++i) {
    const Way& way = ways[i % 100 < 60 ? 0 : i % 4];
    TestTrain out(pattern(300 + i, i), i % 3 == 0 ? 100 : 300 + i, right_address_, way.source_port);
    out.train.flow_label = way.flow_label;
    out.train.tos = way.tos;
    ASSERT_EQ(left_->tx({&out.train, 1}), 1u);
    ASSERT_EQ(out.train.error, 0);
    const auto got = receive(*right_, out.train.packets);
    ASSERT_EQ(got.size(), out.train.packets);
    std::string joined;
    for (const Arrival& packet : got) {
      joined += packet.bytes;
      ASSERT_EQ(packet.source_port, way.source_port);
      ASSERT_EQ(packet.flow_label, v4() ? 0 : way.flow_label);
      ASSERT_EQ(packet.tos, way.tos);
    }
    ASSERT_EQ(joined, out.bytes);
  }
}

class ConnectedSocketsTest : public ::testing::Test {
 protected:
  ConnectedSocketsTest() { train.to = &loopback; }
  /// Trains that found a lane: of each path some in a row.
  unsigned carried(ConnectedSockets& sockets, std::uint16_t paths, int in_a_row) {
    unsigned found = 0;
    for (std::uint16_t path = 0; path < paths; ++path) {
      train.source_port = static_cast<std::uint16_t>(53000 + path);
      for (int i = 0; i < in_a_row; ++i) found += sockets.find(train) >= 0;
    }
    return found;
  }
  const Address loopback = *parse_address("::1");
  TxTrain train;
};

/// More paths than lanes, each in runs: those that have a lane keep it, and nobody opens sockets for ever.
TEST_F(ConnectedSocketsTest, PathsInTurnDoNotTakeLanesFromEachOther) {
  ConnectedSockets sockets({.local = loopback, .limit = 4});
  unsigned found = 0;
  for (int round = 0; round < 50; ++round) found += carried(sockets, 16, 3);
  EXPECT_LE(sockets.opened(), 4u);
  EXPECT_GT(found, 0u);
  // A path that is used no more makes room.
  train.source_port = 54000;
  for (int i = 0; i < 5000; ++i) (void)sockets.find(train);
  EXPECT_GE(sockets.find(train), 0);
}

/// Two ends in conversation: data by each path in its turn, answers now and then by the path of the moment,
/// in a class of their own. That is as many kinds of trains as lanes, and some rest for a few rounds.
TEST_F(ConnectedSocketsTest, AConversationSettles) {
  ConnectedSockets sockets({.local = loopback, .limit = 256});
  Prng random(1);
  const auto rounds = [&](int n) {
    for (int round = 0; round < n; ++round) {
      for (std::uint16_t path = 0; path < 128; ++path) {
        train.source_port = static_cast<std::uint16_t>(53000 + path);
        for (int i = 0; i < 8; ++i) {
          train.tos = 74;
          (void)sockets.find(train);
          train.tos = 186;
          if (random.below(16) == 0) (void)sockets.find(train);
        }
      }
    }
  };
  rounds(50);
  const auto opened = sockets.opened();
  EXPECT_GT(opened, 200u);
  rounds(300);
  EXPECT_LE(sockets.opened(), opened + 5);
}

/// Half as many paths as lanes: hardly any is without one.
TEST_F(ConnectedSocketsTest, PathsFindALaneEach) {
  ConnectedSockets sockets({.local = loopback, .limit = 256});
  for (int round = 0; round < 9; ++round) carried(sockets, 128, 2);
  EXPECT_GE(carried(sockets, 128, 2), 2 * 124u);
}

}  // namespace
}  // namespace mrc::port
