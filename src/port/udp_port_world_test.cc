// A UdpPort and the world around it: peers that are not there, strangers, links, aliases, the kernel's
// routes.
#include <sys/resource.h>

#include <fstream>

#include "port/udp_port_test_support.h"

namespace mrc::port {
namespace {

TEST_P(UdpPortTest, APeerThatIsNotThereIsLossNotAnError) {
  right_.reset();
  for (int i = 0; i < 50; ++i) {
    TestTrain out(pattern(100), 100, right_address_, 52002);
    ASSERT_EQ(left_->tx({&out.train, 1}), 1u);
    EXPECT_EQ(out.train.error, 0);
  }
}

// MRC-PORT-004
TEST_P(UdpPortTest, ABadTrainStopsNoOther) {
  TestTrain good(pattern(64), 64, right_address_, 50005), again(pattern(65, 2), 65, right_address_, 50005);
  TestTrain too_long(pattern(20000), 20000, right_address_, 50005);
  TestTrain no_port(pattern(64), 64, right_address_, 0);
  TestTrain nowhere(pattern(64), 64, address(v4() ? "10.99.0.1" : "fd99::1"), 50005);
  TestTrain other_family(pattern(64), 64, address(v4() ? "fd77::2" : "10.77.0.2"), 50005);
  TxTrain empty{.packet_bytes = 10, .source_port = 50005, .to = &right_address_};
  TxTrain burst[] = {good.train,         too_long.train, no_port.train, nowhere.train,
                     other_family.train, empty,          again.train};
  ASSERT_EQ(left_->tx(burst), 7u);
  EXPECT_EQ(burst[0].error, 0);
  EXPECT_EQ(burst[1].error, EMSGSIZE);
  EXPECT_EQ(burst[2].error, EINVAL);
  EXPECT_EQ(burst[3].error, ENETUNREACH);
  EXPECT_EQ(burst[4].error, EINVAL);
  EXPECT_EQ(burst[5].error, EINVAL);
  EXPECT_EQ(burst[6].error, 0);
  EXPECT_EQ(left_->counters().tx_discarded, 5u);
  EXPECT_EQ(receive(*right_, 2).size(), 2u);
}

TEST_P(UdpPortTest, SharesASourcePortWithOtherSendersButNotWithStrangers) {
  sandbox_->left([&] {
    EXPECT_EQ(left_->prepare_source_port(50006), 0);
    auto stranger = Fd(::socket(GetParam(), SOCK_DGRAM, 0));
    const SocketAddress taken = to_socket_address(left_address_, 50007);
    ASSERT_EQ(::bind(stranger.get(), &taken.any, taken.size), 0);
    EXPECT_EQ(left_->prepare_source_port(50007), EADDRINUSE);
    auto other = opened({.local = left_address_, .udp_port = 4792});
    EXPECT_EQ(other->prepare_source_port(50006), 0);
  });
}

TEST_P(UdpPortTest, OpensItsSocketsWithoutAGrowingTableOfDescriptors) {
  const auto table = [] {
    std::ifstream status("/proc/thread-self/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("FDSize:")) return std::stoul(line.substr(7));
    }
    return 0ul;
  };
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_cur < 8192) GTEST_SKIP() << "the table is as large as it may be";
  std::vector<std::unique_ptr<UdpPort>> ports;
  for (std::uint16_t i = 0; i < 3; ++i)
    ports.push_back(open_left({.local = left_address_, .udp_port = static_cast<std::uint16_t>(4800 + i)}));
  const auto before = table();
  for (const auto& port : ports) {
    sandbox_->left([&] {
      for (std::uint16_t i = 0; i < 900; ++i) ASSERT_EQ(port->prepare_source_port(51000 + i), 0);
    });
  }
  EXPECT_EQ(table(), before);
  EXPECT_GE(before, 2700u);
}

// MRC-PORT-005
TEST_P(UdpPortTest, TellsLinkChangesOnce) {
  EXPECT_TRUE(left_->link().up);
  EXPECT_EQ(left_->link().mtu, 9000u);
  EXPECT_GT(left_->link().bits_per_second, 0u);
  ASSERT_TRUE(sandbox_->right_shell("ip link set r0 down"));
  const auto wait_for = [&](bool up) {
    for (int i = 0; i < 50; ++i) {
      testing::wait(*left_);
      left_->service();
      if (const auto event = left_->poll_link_event(); event && event->up == up) return true;
    }
    return false;
  };
  EXPECT_TRUE(wait_for(false));
  EXPECT_FALSE(left_->link().up);
  EXPECT_FALSE(left_->poll_link_event());
  ASSERT_TRUE(sandbox_->right_shell("ip link set r0 up"));
  EXPECT_TRUE(wait_for(true));
}

TEST_P(UdpPortTest, ReceivesAtAliasesAndSaysWhichWasMeant) {
  right_.reset();
  ASSERT_TRUE(sandbox_->right_shell(v4() ? "ip addr add 10.77.0.99/24 dev r0"
                                         : "ip addr add fd77::99/64 dev r0 nodad"));
  right_ = open_right({.local = right_address_, .all_addresses = true, .bind_interface = true});
  const Address alias = address(v4() ? "10.77.0.99" : "fd77::99");
  TestTrain out(pattern(64), 64, alias, 50008);
  std::vector<Arrival> got;
  // A new IPv6 address takes a moment to work, and what comes before is lost.
  for (int i = 0; i < 100 && got.empty(); ++i) {
    ASSERT_EQ(left_->tx({&out.train, 1}), 1u);
    got = receive(*right_, 1, 20);
  }
  ASSERT_FALSE(got.empty());
  EXPECT_EQ(got[0].to, alias);
}

/// SRv6 as specified, by the kernel's routes: the peer's alias picks the path, and trains stay trains.
TEST(KernelEncapsulation, TrainsGoThroughAndTheAliasIsTold) {
  auto sandbox = Sandbox::make();
  if (!sandbox) GTEST_SKIP() << "no network namespaces here: " << sandbox.error().what;
  const auto try_both = [&](const char* left, const char* right) {
    auto done = (*sandbox)->left_shell(left);
    return done ? (*sandbox)->right_shell(right) : done;
  };
  // The right end is the last switch and the host in one: it takes the carrier off and knows all aliases.
  auto done = try_both("ip -6 route add fc00:0:5::/48 via fd77::2",
                       "sysctl -qw net.ipv6.conf.all.seg6_enabled=1 net.ipv6.conf.r0.seg6_enabled=1");
  if (done)
    done = try_both("ip -6 route add fd78::/64 encap seg6 mode encap.red segs fc00:0:5:: dev l0",
                    "ip -6 route add fc00:0:5::/48 encap seg6local action End.DT6 table 255 dev r0");
  if (done) done = try_both("true", "ip -6 route add local fd78::/64 dev lo");
  if (!done) GTEST_SKIP() << "no seg6 here: " << done.error().what;
  (*sandbox)->stay_left();
  auto left = UdpPort::open({.local = address("fd77::1")});
  ASSERT_TRUE(left);
  std::unique_ptr<UdpPort> right;
  (*sandbox)->right(
      [&] { right = std::move(*UdpPort::open({.local = address("fd77::2"), .all_addresses = true})); });
  for (const char* alias : {"fd78::1", "fd78::2"}) {
    TestTrain out(pattern(8 * 4160), 4160, address(alias), 50010);
    out.train.flow_label = 0x777;
    ASSERT_EQ((*left)->tx({&out.train, 1}), 1u);
    ASSERT_EQ(out.train.error, 0);
    const auto got = receive(*right, 8);
    ASSERT_EQ(got.size(), 8u);
    EXPECT_EQ(got[7].to, address(alias));
    EXPECT_EQ(got[7].from, address("fd77::1"));
    EXPECT_EQ(got[7].flow_label, 0x777u);
    std::string joined;
    for (const Arrival& packet : got) joined += packet.bytes;
    EXPECT_EQ(joined, out.bytes);
  }
}

TEST_P(UdpPortTest, CountsWhatTheKernelDroppedForWantOfRoom) {
  right_.reset();
  right_ = open_right({.local = right_address_, .receive_buffer = 4096});
  for (unsigned i = 0; i < 100; ++i) {
    TestTrain out(pattern(4000), 4000, right_address_, 50009);
    ASSERT_EQ(left_->tx({&out.train, 1}), 1u);
  }
  const std::size_t first = receive(*right_, 100, 300).size();
  EXPECT_LT(first, 100u);
  TestTrain last(pattern(64), 64, right_address_, 50009);
  ASSERT_EQ(left_->tx({&last.train, 1}), 1u);
  ASSERT_EQ(receive(*right_, 1).size(), 1u);
  EXPECT_EQ(right_->counters().rx_overrun, 100 - first);
}

TEST(UdpPortOpen, SaysWhatIsWrong) {
  auto sandbox = Sandbox::make();
  if (!sandbox) GTEST_SKIP() << "no network namespaces here: " << sandbox.error().what;
  (*sandbox)->stay_left();
  auto nowhere = UdpPort::open({.local = address("192.0.2.77")});
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ENODEV);
  ASSERT_TRUE((*sandbox)->left_shell("sysctl -qw net.ipv6.conf.l0.dad_transmits=1000"));
  ASSERT_TRUE((*sandbox)->left_shell("ip addr add fd77::5/64 dev l0"));
  auto on_trial = UdpPort::open({.local = address("fd77::5")});
  ASSERT_FALSE(on_trial);
  EXPECT_EQ(on_trial.error().code, EADDRNOTAVAIL);
  EXPECT_NE(on_trial.error().what.find("tentative"), std::string::npos);
  auto first = UdpPort::open({.local = address("127.0.0.1"), .udp_port = 47911});
  ASSERT_TRUE(first);
  auto second = UdpPort::open({.local = address("127.0.0.1"), .udp_port = 47911});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, EADDRINUSE);
  EXPECT_NE(second.error().what.find("47911"), std::string::npos);
}

}  // namespace
}  // namespace mrc::port
