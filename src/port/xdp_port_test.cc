// AF_XDP on a veth, in the driver's mode and in the generic one.
#include "port/xdp_port.h"

#include "port/framed_port.h"
#include "port/traffic_test_support.h"
#include "port/udp_port.h"

namespace mrc::port {
namespace {

using testing::Arrival;
using testing::pattern;
using testing::receive;
using testing::Sandbox;
using testing::TestTrain;

const Address kLeft = *parse_address("fd77::1");
const Address kRight = *parse_address("fd77::2");

class XdpPortTest : public ::testing::TestWithParam<XdpMode> {
 protected:
  void SetUp() override {
    auto made = Sandbox::make();
    if (!made) GTEST_SKIP() << "no network namespaces here: " << made.error().what;
    sandbox_ = std::move(*made);
    sandbox_->stay_left();
    auto left = XdpPort::open(options("l0"));
    if (!left && left.error().code == EPERM) GTEST_SKIP() << left.error().what;
    ASSERT_TRUE(left) << left.error().what;
    ASSERT_EQ((*left)->mode(), GetParam());
    left_ = framed(std::move(*left), kLeft);
    sandbox_->right([&] {
      auto right = XdpPort::open(options("r0"));
      ASSERT_TRUE(right) << right.error().what;
      right_ = framed(std::move(*right), kRight);
    });
  }
  static XdpPortOptions options(const char* interface) {
    return {.interface = interface, .driver_mode = GetParam() == XdpMode::driver};
  }
  static std::unique_ptr<Port> framed(std::unique_ptr<Port> frames, const Address& local) {
    auto port = FramedPort::open(std::move(frames), {.local = local});
    EXPECT_TRUE(port) << (port ? "" : port.error().what);
    return std::move(*port);
  }

  std::unique_ptr<Sandbox> sandbox_;
  std::unique_ptr<Port> left_, right_;
};

INSTANTIATE_TEST_SUITE_P(Modes, XdpPortTest, ::testing::Values(XdpMode::driver, XdpMode::generic),
                         [](const auto& param) {
                           return param.param == XdpMode::driver ? "driver" : "generic";
                         });

TEST_P(XdpPortTest, CarriesFramesOfEverySize) {
  for (const std::size_t size : {20u, 64u, 1500u, 3700u, 3800u, 4096u, 4160u, 7700u, 8900u}) {
    TestTrain out(pattern(size), static_cast<std::uint32_t>(size), kRight, 99, 1000);
    out.train.tos = 0x4A;
    out.train.flow_label = 0xABCDE;
    ASSERT_EQ(left_->tx({&out.train, 1}), 1u);
    ASSERT_EQ(out.train.error, 0) << size;
    const auto got = receive(*right_, 1);
    ASSERT_EQ(got.size(), 1u) << size;
    EXPECT_EQ(got[0].bytes, out.bytes) << size;
    EXPECT_EQ(got[0].source_port, 99);
    EXPECT_EQ(got[0].tos, 0x4A);
    EXPECT_EQ(got[0].flow_label, 0xABCDEu);
  }
}

TEST_P(XdpPortTest, KeepsGoingRoundItsRings) {
  constexpr unsigned kRounds = 200, kBurst = 32;
  unsigned received = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    std::vector<std::unique_ptr<TestTrain>> packets;
    std::vector<TxTrain> burst;
    for (unsigned i = 0; i < kBurst; ++i) {
      packets.push_back(
          std::make_unique<TestTrain>(pattern(4160, round * kBurst + i), 4160, kRight, 100 + i, 2000));
      burst.push_back(packets.back()->train);
    }
    ASSERT_EQ(left_->tx(burst), kBurst);
    const auto got = receive(*right_, kBurst);
    ASSERT_EQ(got.size(), kBurst);
    for (unsigned i = 0; i < kBurst; ++i) ASSERT_EQ(got[i].bytes, packets[i]->bytes);
    received += static_cast<unsigned>(got.size());
  }
  EXPECT_EQ(right_->counters().rx_packets, received);
}

TEST_P(XdpPortTest, LeavesTheKernelItsTraffic) {
  std::unique_ptr<UdpPort> other;
  sandbox_->right([&] { other = std::move(*UdpPort::open({.local = kRight, .udp_port = 4800})); });
  auto sender = UdpPort::open({.local = kLeft, .udp_port = 4800});
  ASSERT_TRUE(sender);
  TestTrain out(pattern(500), 500, kRight, 50000);
  ASSERT_EQ((*sender)->tx({&out.train, 1}), 1u);
  EXPECT_EQ(receive(*other, 1).size(), 1u);
  EXPECT_EQ(receive(*right_, 1, 50).size(), 0u);
}

TEST_P(XdpPortTest, TheProgramGoesWithThePort) {
  left_.reset();
  auto again = XdpPort::open(options("l0"));
  EXPECT_TRUE(again) << again.error().what;
}

TEST_P(XdpPortTest, SecondOwnerIsRefused) {
  const auto second = XdpPort::open(options("l0"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, EBUSY) << second.error().what;
}

TEST_P(XdpPortTest, WhoComesSecondHearsWhatIsInTheWay) {
  const auto second = XdpPort::open(options("l0"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, EBUSY);
  EXPECT_THAT(second.error().what, ::testing::HasSubstr("l0: another program uses AF_XDP"));
  XdpPortOptions beside = options("l0");
  beside.queue = 1;
  ASSERT_TRUE(
      sandbox_->left_shell("ip link del l1 2>/dev/null; ip link add l1 numrxqueues 2 numtxqueues 2 "
                           "type veth peer name l2 && ip link set l1 up"));
  beside.interface = "l1";
  const auto first = XdpPort::open(options("l1"));
  ASSERT_TRUE(first) << first.error().what;
  const auto other = XdpPort::open(beside);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, EBUSY);
  EXPECT_THAT(other.error().what, ::testing::HasSubstr("l1: it has an XDP program already"));
}

}  // namespace
}  // namespace mrc::port
