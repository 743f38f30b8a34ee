// A device of four ports: planes whose addresses differ in the same bits at both ends, and one that goes
// away.
#include <cstring>

#include "lib/nic_device_fixture.h"
#include "port/testing.h"

namespace mrc::lib::testing {
namespace {

constexpr std::uint8_t kPlanes = 4;

/// Port p at 10.77.p.`last`.
DeviceConfig planes(const char* name, std::uint8_t last) {
  DeviceConfig config;
  config.name = name;
  for (std::uint8_t p = 1; p <= kPlanes; ++p) {
    PortConfig port;
    port.id = PortId(p);
    port.address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 77, p, last};
    config.ports.push_back(port);
  }
  return config;
}

class Planes : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = port::testing::Sandbox::make();
    if (!made) GTEST_SKIP() << "no network namespaces here: " << made.error().what;
    sandbox = std::move(*made);
    for (int p = 1; p <= kPlanes; ++p) {
      const std::string net = "ip addr add 10.77." + std::to_string(p);
      ASSERT_TRUE(sandbox->left_shell(net + ".1/24 dev l0"));
      ASSERT_TRUE(sandbox->right_shell(net + ".2/24 dev r0"));
    }
    sandbox->stay_left();
    DeviceSettings with = settings();
    with.evs = 32;
    left = std::make_unique<Side>(planes("left", 1), with);
    sandbox->right([&] { right = std::make_unique<Side>(planes("right", 2), with); });
    left->device->listen(&ear);
    a = left->create();
    b = right->create();
    raise(a, attributes(*right, b->qpn()));
    raise(b, attributes(*left, a->qpn()));
  }
  void TearDown() override {
    if (left != nullptr) left->device->unlisten(&ear);
  }
  void post(std::uint64_t id) {
    const Sge sge{left->va(0), 1 << 20, left->region.lkey};
    SendRequest r;
    r.wr_id = id;
    r.remote_va = right->va(0);
    r.rkey = right->region.rkey;
    r.sges = std::span(&sge, 1);
    ASSERT_EQ(a->post_send(std::span(&r, 1)).error, 0);
  }
  void expect_successes(std::size_t n) {
    const auto done = left->poll(n);
    ASSERT_EQ(done.size(), n);
    for (const WorkCompletion& c : done) EXPECT_EQ(c.status, WorkStatus::success);
  }

  std::unique_ptr<port::testing::Sandbox> sandbox;
  std::unique_ptr<Side> left, right;
  PortEar ear{PortId(3)};
  QueuePair *a = nullptr, *b = nullptr;
};

// MRC-API-025
TEST_F(Planes, AnAddressGoesAwayInMidTransferAndComesBack) {
  for (std::uint64_t id = 0; id < 24; ++id) post(id);
  expect_successes(2);
  ASSERT_TRUE(sandbox->left_shell("ip addr del 10.77.3.1/24 dev l0"));
  expect_successes(22);
  EXPECT_EQ(std::memcmp(left->memory.data(), right->memory.data(), left->memory.size()), 0);
  ASSERT_TRUE(ear.wait_for(ear.down, 1));
  EXPECT_TRUE(ear.wait_for(ear.gids, 1));
  EXPECT_FALSE(left->device->port_status(PortId(3)).active());
  EXPECT_TRUE(left->device->port_status(PortId(2)).active());
  ASSERT_TRUE(sandbox->left_shell("ip addr add 10.77.3.1/24 dev l0"));
  ASSERT_TRUE(ear.wait_for(ear.up, 1));
  post(99);
  expect_successes(1);
}

TEST_F(Planes, ThePeersPlanesAreFoundFromOneOfThem) {
  Gid second = right->device->config().ports[1].address;
  const auto found = left->device->peer_addresses(second, PortId(2));
  ASSERT_EQ(found.size(), std::size_t{kPlanes});
  for (std::size_t p = 0; p < kPlanes; ++p)
    EXPECT_EQ(found[p].bytes, right->device->config().ports[p].address);
}

TEST_F(Planes, TheLastPortsOneByOne) {
  for (std::uint8_t p = 1; p < kPlanes; ++p) {
    post(p);
    ASSERT_EQ(left->device->set_port_admin(PortId(p), false), 0);
    expect_successes(1);
  }
}

// openmrc/planes.h: "eth1 down, 0 of 64 EVs good".
TEST_F(Planes, APortThatIsDownHasNoGoodEv) {
  ASSERT_EQ(left->device->set_port_admin(PortId(3), false), 0);
  const auto known = a->planes();
  ASSERT_EQ(known.size(), std::size_t{kPlanes});
  for (const PlaneStatus& plane : known)
    EXPECT_EQ(plane.good, plane.port == PortId(3) ? 0 : plane.evs) << int{plane.port.value};
}

TEST_F(TwoDevices, AGidOfTheOtherFamilyIsRefused) {
  QpAttributes there = attributes(b, qb->qpn());
  there.remote_gid = {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
  QueuePair* qp = a.create();
  ASSERT_EQ(qp->modify(QpState::init, there), 0);
  EXPECT_EQ(qp->modify(QpState::rtr, there), EAFNOSUPPORT);
}

}  // namespace
}  // namespace mrc::lib::testing
