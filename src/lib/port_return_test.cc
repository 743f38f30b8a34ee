// A device of each kind of port, whose interface or address goes away under it and comes back.
#include "lib/nic_device_fixture.h"
#include "port/testing.h"

namespace mrc::lib::testing {
namespace {

DeviceConfig at(const char* interface, std::uint8_t last) {
  DeviceConfig config = loopback(interface, last);
  config.ports[0].address = {0xFD, 0x77};
  config.ports[0].address[15] = last;
  config.ports[0].interface.name = interface;
  return config;
}

class PortReturn : public ::testing::TestWithParam<PortKind> {
 protected:
  void SetUp() override {
    auto made = port::testing::Sandbox::make();
    if (!made) GTEST_SKIP() << "no network namespaces here: " << made.error().what;
    sandbox = std::move(*made);
    sandbox->stay_left();
    left = make("l0", 1);
    if (left == nullptr) return;
    sandbox->right([&] { right = make("r0", 2); });
    left->device->listen(&ear);
    right->device->listen(&right_ear);
    a = left->create();
    b = right->create();
    raise(a, attributes(*right, b->qpn()));
    raise(b, attributes(*left, a->qpn()));
  }
  void TearDown() override {
    if (right == nullptr) return;
    left->device->unlisten(&ear);
    right->device->unlisten(&right_ear);
  }
  /// Null and a skipped test when the kernel forbids it.
  static std::unique_ptr<Side> make(const char* interface, std::uint8_t last) {
    DeviceSettings with = settings();
    with.port = GetParam();
    auto opened = NicDevice::open(at(interface, last), with);
    if (!opened && opened.error().code == EPERM) [&] { GTEST_SKIP() << opened.error().what; }();
    EXPECT_TRUE(opened || opened.error().code == EPERM) << opened.error().what;
    return opened ? std::make_unique<Side>(*opened) : nullptr;
  }
  void expect_write() {
    const Sge sge{left->va(0), 1 << 16, left->region.lkey};
    SendRequest r;
    r.remote_va = right->va(0);
    r.rkey = right->region.rkey;
    r.sges = std::span(&sge, 1);
    ASSERT_EQ(a->post_send(std::span(&r, 1)).error, 0);
    const auto done = left->poll(1);
    ASSERT_EQ(done.size(), 1u);
    EXPECT_EQ(done[0].status, WorkStatus::success);
  }
  bool active() const { return left->device->port_status(PortId(1)).active(); }

  std::unique_ptr<port::testing::Sandbox> sandbox;
  std::unique_ptr<Side> left, right;
  PortEar ear{PortId(1)}, right_ear{PortId(1)};
  QueuePair *a = nullptr, *b = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Kinds, PortReturn, ::testing::Values(PortKind::udp, PortKind::packet, PortKind::xdp),
                         [](const auto& kind) {
                           return kind.param == PortKind::udp      ? "udp"
                                  : kind.param == PortKind::packet ? "packet"
                                                                   : "xdp";
                         });

// MRC-PORT-012
TEST_P(PortReturn, AnInterfaceIsMadeAnew) {
  if (right == nullptr) return;
  expect_write();
  ASSERT_TRUE(sandbox->left_shell("ip link del l0"));
  ASSERT_TRUE(ear.wait_for(ear.down, 1));
  ASSERT_TRUE(right_ear.wait_for(right_ear.down, 1));
  EXPECT_FALSE(active());
  ASSERT_TRUE(sandbox->remake());
  ASSERT_TRUE(ear.wait_for(ear.up, 1));
  ASSERT_TRUE(right_ear.wait_for(right_ear.up, 1));
  expect_write();
  // The new interface's other addresses are the port's as well.
  const int before = [&] {
    const std::lock_guard lock(ear.mutex);
    return ear.gids;
  }();
  ASSERT_TRUE(sandbox->left_shell("ip addr add 10.77.9.1/24 dev l0"));
  EXPECT_TRUE(ear.wait_for(ear.gids, before + 1));
  const Gid added = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 77, 9, 1};
  const auto gids = left->device->gids(PortId(1));
  EXPECT_TRUE(std::any_of(gids.begin(), gids.end(), [&](const GidEntry& g) { return g.gid == added; }));
}

// MRC-API-025: an IPv6 address is nobody's until the kernel knows that no other host has it.
TEST_P(PortReturn, AnAddressIsBackWhenItMayBeUsed) {
  if (right == nullptr) return;
  ASSERT_TRUE(sandbox->left_shell("sysctl -qw net.ipv6.conf.l0.dad_transmits=1000"));
  ASSERT_TRUE(sandbox->left_shell("ip addr del fd77::1/64 dev l0"));
  ASSERT_TRUE(ear.wait_for(ear.down, 1));
  ASSERT_TRUE(ear.wait_for(ear.gids, 1));
  ASSERT_TRUE(sandbox->left_shell("ip addr add fd77::1/64 dev l0"));
  ASSERT_TRUE(ear.wait_for(ear.gids, 2));
  EXPECT_FALSE(active());
  ASSERT_TRUE(sandbox->left_shell("ip addr del fd77::1/64 dev l0 && ip addr add fd77::1/64 dev l0 nodad"));
  ASSERT_TRUE(ear.wait_for(ear.up, 1));
  expect_write();
}

}  // namespace
}  // namespace mrc::lib::testing
