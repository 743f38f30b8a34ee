// For tests of UdpPort: two ports, each in its own namespace, over a veth.
#pragma once

#include <sys/socket.h>

#include "port/traffic_test_support.h"
#include "port/udp_port.h"

namespace mrc::port {

using testing::Arrival;
using testing::pattern;
using testing::receive;
using testing::Sandbox;
using testing::TestTrain;

inline Address address(const char* text) { return *parse_address(text); }

/// Two ports, each in its own namespace, over a veth; the parameter is the family.
class UdpPortTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    auto made = Sandbox::make();
    if (!made) GTEST_SKIP() << "no network namespaces here: " << made.error().what;
    sandbox_ = std::move(*made);
    left_address_ = address(v4() ? "10.77.0.1" : "fd77::1");
    right_address_ = address(v4() ? "10.77.0.2" : "fd77::2");
    sandbox_->stay_left();
    left_ = open_left({.local = left_address_, .doorbell = false});  // one of each kind
    right_ = open_right({.local = right_address_, .timestamps = true});
  }
  static bool v4() { return GetParam() == AF_INET; }

  std::unique_ptr<UdpPort> open_left(const UdpPortOptions& options) {
    std::unique_ptr<UdpPort> out;
    sandbox_->left([&] { out = opened(options); });
    return out;
  }
  std::unique_ptr<UdpPort> open_right(const UdpPortOptions& options) {
    std::unique_ptr<UdpPort> out;
    sandbox_->right([&] { out = opened(options); });
    return out;
  }
  static std::unique_ptr<UdpPort> opened(const UdpPortOptions& options) {
    auto port = UdpPort::open(options);
    EXPECT_TRUE(port) << (port ? "" : port.error().what);
    return port ? std::move(*port) : nullptr;
  }

  std::unique_ptr<Sandbox> sandbox_;
  Address left_address_, right_address_;
  std::unique_ptr<UdpPort> left_, right_;
};

}  // namespace mrc::port
