// Datagrams over packet sockets, between each other and with the kernel's own UDP.
#include "port/framed_port.h"

#include <sys/socket.h>

#include <fstream>
#include <sstream>

#include "port/packet_port.h"
#include "port/shield.h"
#include "port/traffic_test_support.h"
#include "port/udp_port.h"

namespace mrc::port {
namespace {

using testing::Arrival;
using testing::pattern;
using testing::receive;
using testing::Sandbox;
using testing::TestTrain;

class FramedPortTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    auto made = Sandbox::make();
    if (!made) GTEST_SKIP() << "no network namespaces here: " << made.error().what;
    sandbox_ = std::move(*made);
    sandbox_->stay_left();
    left_address_ = *parse_address(v4() ? "10.77.0.1" : "fd77::1");
    right_address_ = *parse_address(v4() ? "10.77.0.2" : "fd77::2");
  }
  static bool v4() { return GetParam() == AF_INET; }

  static std::unique_ptr<Port> framed(const char* interface, const Address& local) {
    auto frames = PacketPort::open({.interface = interface});
    EXPECT_TRUE(frames) << (frames ? "" : frames.error().what);
    auto port = FramedPort::open(std::move(*frames), {.local = local});
    EXPECT_TRUE(port) << (port ? "" : port.error().what);
    return std::move(*port);
  }
  std::unique_ptr<Port> framed_left() { return framed("l0", left_address_); }
  std::unique_ptr<Port> framed_right() {
    std::unique_ptr<Port> out;
    sandbox_->right([&] { out = framed("r0", right_address_); });
    return out;
  }
  std::unique_ptr<Port> kernel_right() {
    std::unique_ptr<Port> out;
    sandbox_->right([&] { out = std::move(*UdpPort::open({.local = right_address_})); });
    return out;
  }
  void expect_carried(Port& from, Port& to, const Address* outer) {
    TestTrain out(pattern(1001), 1001, right_address_, 7, 128);  // a source port that a socket couldn't have
    out.train.tos = 26 << 2 | 2;
    out.train.flow_label = 0xABCDE;
    out.train.outer = outer;
    ASSERT_EQ(from.tx({&out.train, 1}), 1u);
    ASSERT_EQ(out.train.error, 0);
    const auto got = receive(to, 1);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].bytes, out.bytes);
    EXPECT_EQ(got[0].from, left_address_);
    EXPECT_EQ(got[0].to, right_address_);
    EXPECT_EQ(got[0].source_port, 7);
    EXPECT_EQ(got[0].tos, 26 << 2 | 2);
    EXPECT_EQ(got[0].flow_label, v4() ? 0u : 0xABCDEu);
  }

  std::unique_ptr<Sandbox> sandbox_;
  Address left_address_, right_address_;
};

INSTANTIATE_TEST_SUITE_P(Families, FramedPortTest, ::testing::Values(AF_INET, AF_INET6),
                         [](const auto& param) { return param.param == AF_INET ? "v4" : "v6"; });

class SegmentRoutedPortTest : public FramedPortTest {};
INSTANTIATE_TEST_SUITE_P(OverIpv6, SegmentRoutedPortTest, ::testing::Values(AF_INET6));

TEST_P(FramedPortTest, CarriesPacketsToItsLike) {
  auto left = framed_left(), right = framed_right();
  expect_carried(*left, *right, nullptr);
}

TEST_P(FramedPortTest, TheKernelTakesItsPackets) {
  auto left = framed_left(), right = kernel_right();
  expect_carried(*left, *right, nullptr);
}

TEST_P(FramedPortTest, TakesWhatTheKernelCoalesced) {
  auto right = framed_right();
  auto left = UdpPort::open({.local = left_address_});
  ASSERT_TRUE(left);
  TestTrain out(pattern(7 * 1024 + 100), 1024, right_address_, 50000);
  ASSERT_EQ((*left)->tx({&out.train, 1}), 1u);
  const auto got = receive(*right, 8);
  ASSERT_EQ(got.size(), 8u);
  std::string joined;
  for (const Arrival& packet : got) joined += packet.bytes;
  EXPECT_EQ(joined, out.bytes);
  EXPECT_EQ(got[0].bytes.size(), 1024u);
  EXPECT_EQ(right->counters().rx_packets, 8u);
}

TEST_P(SegmentRoutedPortTest, EncapsulatesAsSpecified) {
  auto left = framed_left(), right = framed_right();
  const Address carrier = *parse_address("fd77::2");  // a carrier whose next hop is the right end itself
  expect_carried(*left, *right, &carrier);
}

// MRC-PORT-006
TEST_P(SegmentRoutedPortTest, TheKernelUnwrapsItsEncapsulation) {
  for (const char* command :
       {"sysctl -qw net.ipv6.conf.all.seg6_enabled=1 net.ipv6.conf.r0.seg6_enabled=1 "
        "net.ipv6.conf.all.forwarding=1",
        "ip -6 route add fc00:0:5::/48 encap seg6local action End.DT6 table 255 dev r0"})
    if (auto done = sandbox_->right_shell(command); !done)
      GTEST_SKIP() << "no seg6local here: " << done.error().what;
  ASSERT_TRUE(sandbox_->left_shell("ip -6 route add fc00::/16 via fd77::2"));
  auto left = framed_left(), right = kernel_right();
  const Address carrier = *parse_address("fc00:0:5::");
  expect_carried(*left, *right, &carrier);
}

/// What the kernel's own UDP made of packets that weren't for it, in the right namespace.
std::uint64_t kernel_errors(const Sandbox& sandbox) {
  std::uint64_t total = 0;
  sandbox.right([&] {
    std::ifstream v6("/proc/thread-self/net/snmp6");
    std::string name;
    for (std::uint64_t value; v6 >> name >> value;)
      if (name == "Udp6InErrors") total += value;
    std::ifstream v4("/proc/thread-self/net/snmp");
    std::string heads, values;
    while (std::getline(v4, heads) && std::getline(v4, values))
      if (heads.starts_with("Udp: ")) {
        std::istringstream row(values.substr(5));
        std::uint64_t field = 0;
        for (int i = 0; i < 3; ++i) row >> field;  // InDatagrams NoPorts InErrors
        total += field;
      }
  });
  return total;
}

TEST_P(FramedPortTest, TheShieldKeepsPacketsFromTheKernel) {
  auto left = framed_left(), right = framed_right();
  Result<Fd> probe = Fd();
  sandbox_->right([&] { probe = raise_shield(right->link().interface, right_address_, 4791); });
  if (!probe) GTEST_SKIP() << probe.error().what;
  probe = Fd();  // it only told that shields are allowed: the port has its own
  const std::uint64_t before = kernel_errors(*sandbox_);
  for (int i = 0; i < 20; ++i) {
    TestTrain out(pattern(64), 64, right_address_, 7);
    ASSERT_EQ(left->tx({&out.train, 1}), 1u);
  }
  EXPECT_EQ(receive(*right, 20).size(), 20u);
  EXPECT_EQ(kernel_errors(*sandbox_), before);
}

TEST_P(FramedPortTest, FindsANeighbourThatTheKernelDoesNotKnowYet) {
  ASSERT_TRUE(sandbox_->left_shell("ip neigh flush dev l0 nud permanent"));
  auto left = framed_left(), right = framed_right();
  TestTrain out(pattern(64), 64, right_address_, 7);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(left->tx({&out.train, 1}), 1u);
    if (out.train.error == 0) break;
    EXPECT_EQ(out.train.error, EHOSTUNREACH);
    testing::wait(*left);
    left->service();
  }
  EXPECT_EQ(out.train.error, 0);
  EXPECT_EQ(receive(*right, 1).size(), 1u);
}

TEST_P(FramedPortTest, ABadPacketStopsNoOther) {
  auto left = framed_left(), right = framed_right();
  TestTrain good(pattern(64), 64, right_address_, 7), again(pattern(65, 2), 65, right_address_, 7);
  TestTrain too_long(pattern(9000), 9000, right_address_, 7, 4500);
  TestTrain nowhere(pattern(64), 64, *parse_address(v4() ? "10.99.0.1" : "fd99::1"), 7);
  TestTrain train(pattern(128), 64, right_address_, 7);
  TxTrain burst[] = {good.train, too_long.train, nowhere.train, train.train, again.train};
  ASSERT_EQ(left->tx(burst), 5u);
  const int errors[] = {burst[0].error, burst[1].error, burst[2].error, burst[3].error, burst[4].error};
  EXPECT_THAT(errors, ::testing::ElementsAre(0, EMSGSIZE, EHOSTUNREACH, EINVAL, 0));
  EXPECT_EQ(receive(*right, 2).size(), 2u);
  EXPECT_EQ(left->counters().tx_discarded, 3u);
}

TEST_P(FramedPortTest, LeavesOtherTrafficToTheKernel) {
  auto right = framed_right();
  auto left = UdpPort::open({.local = left_address_, .udp_port = 4800});
  ASSERT_TRUE(left);
  std::unique_ptr<UdpPort> other;
  sandbox_->right([&] { other = std::move(*UdpPort::open({.local = right_address_, .udp_port = 4800})); });
  TestTrain out(pattern(64), 64, right_address_, 50000);
  ASSERT_EQ((*left)->tx({&out.train, 1}), 1u);
  EXPECT_EQ(receive(*other, 1).size(), 1u);
  EXPECT_EQ(receive(*right, 1, 50).size(), 0u);
}

}  // namespace
}  // namespace mrc::port
