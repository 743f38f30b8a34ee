// The way from an address to a MAC: neighbours that the kernel has yet to find, that change, that go away.
#include "port/framed_port_test_support.h"
#include "wire/ethernet.h"

namespace mrc::port {
namespace {

using wire::MacAddress;

constexpr MacAddress kRightMac{{2, 0, 0, 0, 0x77, 2}}, kOtherMac{{2, 0, 0, 0, 0x77, 9}};

class NeighboursTest : public FramedPortTest {
 protected:
  void SetUp() override {
    FramedPortTest::SetUp();
    if (IsSkipped()) return;
    left_ = framed_left();
    sandbox_->right([&] {
      auto tap = PacketPort::open({.interface = "r0"});
      ASSERT_TRUE(tap);
      wire_ = std::move(*tap);
    });
  }
  void forget() { ASSERT_TRUE(sandbox_->left_shell("ip neigh flush dev l0 nud permanent")); }
  const char* right_text() const { return v4() ? "10.77.0.2" : "fd77::2"; }

  int send(const Address& to) {
    TestTrain out(pattern(64), 64, to, 7);
    EXPECT_EQ(left_->tx({&out.train, 1}), 1u);
    return out.train.error;
  }
  /// The MACs of the next frame that the right end sees.
  wire::Ethernet next_frame() {
    RxPacket frame;
    for (int i = 0; i < 20; ++i) {
      if (wire_->rx({&frame, 1}) == 1)
        return wire::EthernetView({reinterpret_cast<const std::uint8_t*>(frame.data), frame.size}).value();
      testing::wait(*wire_);
      left_->service();
    }
    ADD_FAILURE() << "no frame arrives";
    return {};
  }
  /// Sends until `done`; what the kernel has to tell comes soon, but not at once.
  template <class Done>
  bool send_until(const Address& to, Done&& done) {
    for (int i = 0; i < 100 && !HasFailure(); ++i) {
      const int error = send(to);
      if (done(error)) return true;
      pollfd ready{left_->event_fd(), POLLIN, 0};
      ::poll(&ready, 1, 50);
      left_->service();
    }
    return false;
  }

  std::unique_ptr<Port> left_, wire_;
};

INSTANTIATE_TEST_SUITE_P(Families, NeighboursTest, ::testing::Values(AF_INET, AF_INET6),
                         [](const auto& param) { return param.param == AF_INET ? "v4" : "v6"; });

// MRC-PORT-011
TEST_P(NeighboursTest, PacketsWaitUntilTheKernelHasFoundTheNeighbour) {
  auto right = framed_right();
  forget();
  for (unsigned i = 0; i < 100; ++i) {
    TestTrain out(pattern(1000, i), 1000, right_address_, 7);
    out.train.tos = 26 << 2 | 2;
    ASSERT_EQ(left_->tx({&out.train, 1}), 1u);
    ASSERT_EQ(out.train.error, 0);
  }
  std::vector<Arrival> got;
  for (int i = 0; i < 50 && got.size() < 100; ++i) {
    left_->service();
    for (Arrival& a : receive(*right, 100 - got.size(), 20)) got.push_back(std::move(a));
  }
  ASSERT_EQ(got.size(), 100u);
  for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(got[i].bytes, pattern(1000, i));
  EXPECT_EQ(got[99].tos, 26 << 2 | 2);
  EXPECT_EQ(left_->counters().tx_packets, 100u);
  EXPECT_EQ(left_->counters().tx_discarded, 0u);
}

// MRC-PORT-011
TEST_P(NeighboursTest, WhereNobodyAnswersPacketsAreRefused) {
  const std::string knobs = std::string("net.") + (v4() ? "ipv4" : "ipv6") + ".neigh.l0.";
  ASSERT_TRUE(
      sandbox_->left_shell("sysctl -qw " + knobs + "retrans_time_ms=20 " + knobs + "mcast_solicit=1"));
  const Address nobody = *parse_address(v4() ? "10.77.0.9" : "fd77::9");
  EXPECT_EQ(send(nobody), 0);
  EXPECT_TRUE(send_until(nobody, [](int error) { return error == EHOSTUNREACH; }));
  EXPECT_GE(left_->counters().tx_discarded, 2u);  // the one that waited, and the one that did not
  EXPECT_EQ(left_->counters().tx_packets, 0u);
  ASSERT_EQ(send(right_address_), 0);  // others go on
  EXPECT_EQ(next_frame().destination, kRightMac);
  ASSERT_TRUE(sandbox_->right_shell(v4() ? "ip addr add 10.77.0.9/24 dev r0"
                                         : "ip addr add fd77::9/64 dev r0 nodad"));
  EXPECT_TRUE(send_until(nobody, [](int error) { return error == 0; }));
  EXPECT_EQ(next_frame().destination, kRightMac);
}

TEST_P(NeighboursTest, ANeighbourMayChangeItsMac) {
  forget();
  ASSERT_EQ(send(right_address_), 0);
  EXPECT_EQ(next_frame().destination, kRightMac);
  // Who has a new MAC asks for ours as soon as he has something to send, and tells his own with that.
  ASSERT_TRUE(sandbox_->right_shell("ip neigh flush dev r0 nud permanent"));
  ASSERT_TRUE(sandbox_->right_shell("ip link set r0 address 02:00:00:00:77:09"));
  std::unique_ptr<Port> right = kernel_right();
  sandbox_->right([&] {
    TestTrain out(pattern(64), 64, left_address_, 50000);
    ASSERT_EQ(right->tx({&out.train, 1}), 1u);
  });
  EXPECT_TRUE(send_until(right_address_, [&](int) { return next_frame().destination == kOtherMac; }));
}

// What we send keeps nobody's entry fresh, as the kernel does not see it: it has to be asked.
TEST_P(NeighboursTest, TheKernelIsMadeToConfirmWhatIsOld) {
  const std::string who = std::string(right_text()) + " dev l0";
  ASSERT_TRUE(sandbox_->left_shell("ip neigh replace " + who + " lladdr 02:00:00:00:77:02 nud stale"));
  EXPECT_TRUE(send_until(right_address_, [&](int error) {
    EXPECT_EQ(error, 0);
    return bool(sandbox_->left_shell("ip neigh show " + who + " | grep -Eq 'DELAY|PROBE|REACHABLE'"));
  }));
}

TEST_P(NeighboursTest, FramesSayTheMacThatTheInterfaceHasNow) {
  // The right end answers to the MAC that it has for us.
  ASSERT_TRUE(sandbox_->right_shell("ip neigh flush dev r0 nud permanent"));
  ASSERT_TRUE(sandbox_->left_shell("ip link set l0 address 02:00:00:00:77:09"));
  EXPECT_TRUE(send_until(right_address_, [&](int) { return next_frame().source == kOtherMac; }));
}

TEST_P(NeighboursTest, ARouterMayHaveALinkLocalAddress) {
  if (v4()) return;
  forget();
  ASSERT_TRUE(sandbox_->right_shell("ip addr add fe80::7/64 dev r0 nodad"));
  ASSERT_TRUE(sandbox_->left_shell("ip -6 route add fd88::/64 via fe80::7 dev l0"));
  const Address beyond = *parse_address("fd88::1");
  EXPECT_TRUE(send_until(beyond, [&](int error) { return error == 0; }));
  EXPECT_EQ(next_frame().destination, kRightMac);
}

TEST_P(NeighboursTest, ANetworkMayHaveTwoPorts) {
  const std::string second = v4() ? "10.77.0.11/24" : "fd77::11/64 nodad";
  for (const std::string& command :
       {std::string("ip link add l1 type veth peer name l2"), "ip addr add " + second + " dev l1",
        std::string("ip link set l2 up"), std::string("ip link set l1 up"),
        std::string("ip neigh replace ") + right_text() + " lladdr 02:00:00:00:77:02 dev l1"})
    ASSERT_TRUE(sandbox_->left_shell(command));
  auto port = framed("l1", *parse_address(v4() ? "10.77.0.11" : "fd77::11"));
  TestTrain out(pattern(64), 64, right_address_, 7);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(port->tx({&out.train, 1}), 1u);
    if (out.train.error == 0) break;
    testing::wait(*port);
    port->service();
  }
  EXPECT_EQ(out.train.error, 0);
}

}  // namespace
}  // namespace mrc::port
