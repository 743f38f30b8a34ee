// An interface that is deleted and made anew under a port, with the same name and address.
#include "port/framed_port_test_support.h"
#include "port/xdp_port.h"

namespace mrc::port {
namespace {

struct Kind {
  const char* name;
  Result<std::unique_ptr<Port>> (*open)(const char* interface, const Address& local);
};

template <class Made>
Result<std::unique_ptr<Port>> as_port(Made made) {
  if (!made) return made.error();
  return std::unique_ptr<Port>(std::move(*made));
}

Result<std::unique_ptr<Port>> over(Result<std::unique_ptr<Port>> frames, const Address& local) {
  if (!frames) return frames.error();
  return as_port(FramedPort::open(std::move(*frames), {.local = local}));
}

const Kind kKinds[] = {
    {"udp", [](const char*, const Address& local) { return as_port(UdpPort::open({.local = local})); }},
    {"packet",
     [](const char* interface, const Address& local) {
       return over(as_port(PacketPort::open({.interface = interface})), local);
     }},
    {"xdp_driver",
     [](const char* interface, const Address& local) {
       return over(as_port(XdpPort::open({.interface = interface})), local);
     }},
    {"xdp_generic",
     [](const char* interface, const Address& local) {
       return over(as_port(XdpPort::open({.interface = interface, .driver_mode = false})), local);
     }},
};

class RemadeInterface : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    auto made = Sandbox::make();
    if (!made) GTEST_SKIP() << "no network namespaces here: " << made.error().what;
    sandbox_ = std::move(*made);
    sandbox_->stay_left();
    left_ = open("l0", left_address_);
    sandbox_->right([&] { right_ = open("r0", right_address_); });
  }
  static std::unique_ptr<Port> open(const char* interface, const Address& local) {
    auto port = GetParam().open(interface, local);
    if (!port && port.error().code == EPERM) [&] { GTEST_SKIP() << port.error().what; }();
    EXPECT_TRUE(port || port.error().code == EPERM) << port.error().what;
    return port ? std::move(*port) : nullptr;
  }
  /// Ports open sockets as they go, in the namespace of whoever calls.
  template <class Work>
  void at(const Port& port, Work&& work) const {
    &port == right_.get() ? sandbox_->right(work) : work();
  }
  bool wait_for_link(Port& port, bool up) const {
    for (int i = 0; i < 50 && port.link().up != up; ++i) {
      testing::wait(port);
      at(port, [&] { port.service(); });
    }
    return port.link().up == up;
  }
  /// What is sent before the kernel has set up its new addresses is lost.
  bool carries(Port& from, Port& to, const Address& address) const {
    TestTrain out(pattern(3000), 3000, address, 50000, 1000);
    std::vector<Arrival> got;
    for (int i = 0; i < 100 && got.empty(); ++i) {
      at(from, [&] { EXPECT_EQ(from.tx({&out.train, 1}), 1u), from.service(); });
      at(to, [&] { got = receive(to, 1, 20); });
    }
    return !got.empty() && got[0].bytes == out.bytes;
  }

  const Address left_address_ = *parse_address("fd77::1"), right_address_ = *parse_address("fd77::2");
  std::unique_ptr<Sandbox> sandbox_;
  std::unique_ptr<Port> left_, right_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, RemadeInterface, ::testing::ValuesIn(kKinds),
                         [](const auto& param) { return param.param.name; });

// MRC-PORT-012
TEST_P(RemadeInterface, ThePortIsDownMeanwhileAndBackThen) {
  if (left_ == nullptr || right_ == nullptr) return;
  ASSERT_TRUE(carries(*left_, *right_, right_address_));
  const std::uint32_t before = left_->link().interface;
  ASSERT_TRUE(sandbox_->left_shell("ip link del l0"));
  EXPECT_TRUE(wait_for_link(*left_, false));
  EXPECT_TRUE(wait_for_link(*right_, false));
  TestTrain lost(pattern(64), 64, right_address_, 50000);
  EXPECT_EQ(left_->tx({&lost.train, 1}), 1u);
  ASSERT_TRUE(sandbox_->remake());
  EXPECT_TRUE(wait_for_link(*left_, true));
  EXPECT_TRUE(wait_for_link(*right_, true));
  EXPECT_NE(left_->link().interface, before);
  EXPECT_TRUE(carries(*left_, *right_, right_address_));
  EXPECT_TRUE(carries(*right_, *left_, left_address_));
  const auto event = left_->poll_link_event();
  EXPECT_TRUE(event && event->up);
  EXPECT_FALSE(left_->poll_link_event());
}

}  // namespace
}  // namespace mrc::port
