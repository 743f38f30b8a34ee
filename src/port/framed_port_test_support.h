// For tests of FramedPort: two namespaces over a veth, with ports of frames or the kernel's own at the ends.
#pragma once

#include <sys/socket.h>

#include "port/framed_port.h"
#include "port/packet_port.h"
#include "port/traffic_test_support.h"
#include "port/udp_port.h"

namespace mrc::port {

using testing::Arrival;
using testing::pattern;
using testing::receive;
using testing::Sandbox;
using testing::TestTrain;

/// The parameter is the family.
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
  void expect_carried(Port& from, Port& to, const Address* outer, const Address* outer_next = nullptr) {
    TestTrain out(pattern(1001), 1001, right_address_, 7, 128);  // a source port that a socket couldn't have
    out.train.tos = 26 << 2 | 2;
    out.train.flow_label = 0xABCDE;
    out.train.outer = outer;
    out.train.outer_next = outer_next;
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

}  // namespace mrc::port
