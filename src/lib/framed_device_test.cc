// A device over whole frames: packet sockets and AF_XDP on a veth between namespaces that the test makes.
#include <cstring>
#include <set>

#include "lib/nic_device_fixture.h"
#include "port/packet_port.h"
#include "port/testing.h"
#include "wire/codec.h"

namespace mrc::lib::testing {
namespace {

constexpr std::uint64_t kProfile = 4;

DeviceConfig on_veth(const char* interface, std::uint8_t last) {
  DeviceConfig config = loopback(interface, last);
  config.ports[0].address = {0xFD, 0x77};
  config.ports[0].address[15] = last;
  config.ports[0].interface.name = interface;
  return config;
}

DeviceSettings over(PortKind kind) {
  DeviceSettings s;
  s.port = kind;
  s.evs = 8;
  return s;
}

/// EVs fcbb:0:1::, fcbb:0:2::, ... of the SRv6 format.
void make_srv6_profile(NicDevice& device, std::uint32_t count) {
  using S = node::ProfileState;
  node::ProfileStore& store = device.profiles();
  std::vector<std::uint8_t> widths{32, 16, 16, 32, 32};
  std::vector<node::EvField> fields{{32, 0xFCBB0000, 0, 0, 0}, {16, 0, 0, 0xFFFF, 0xFFFF}, {16, 0, 0, 0, 0}};
  for (int i = 0; i < 2; ++i) fields.push_back({32, 0, 0, 0, 0});
  ASSERT_EQ(store.modify_format(3, {.state = S::offline, .mode = node::FormatMode::srv6, .widths = widths}),
            0);
  ASSERT_EQ(store.modify_format(3, {.state = S::online}), 0);
  ASSERT_EQ(store
                .modify_ev(kProfile, {.state = S::offline,
                                      .mode = node::EvMode::explicit_,
                                      .format = 3,
                                      .count = count,
                                      .min_active = 1,
                                      .event_mask = 0,
                                      .fields = fields})
                .error,
            0);
  std::vector<node::EvReplace> evs(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    evs[i].to.bits[1] = static_cast<std::uint8_t>(i + 1);
    evs[i].to.port = 1;
  }
  ASSERT_EQ(store.modify_ev(kProfile, {.replaces = evs}).error, 0);
  ASSERT_EQ(store.modify_ev(kProfile, {.state = S::online}).error, 0);
}

struct Kinds {
  const char* name;
  PortKind left, right;
  bool srv6 = false;
};

class Framed : public ::testing::TestWithParam<Kinds> {
 protected:
  void SetUp() override {
    auto made = port::testing::Sandbox::make();
    if (!made) GTEST_SKIP() << "no network namespaces here: " << made.error().what;
    sandbox = std::move(*made);
    ASSERT_TRUE(sandbox->left_shell("ip -6 route add fcbb::/16 via fd77::2 dev l0"));
    ASSERT_TRUE(sandbox->right_shell("ip -6 route add fcbb::/16 via fd77::1 dev r0"));
    sandbox->left([&] { left = make("l0", 1, GetParam().left); });
    if (left == nullptr) return;
    sandbox->right([&] {
      right = make("r0", 2, GetParam().right);
      if (auto tap = port::PacketPort::open({.interface = "r0"})) wire = std::move(*tap);
    });
  }
  /// Null and a skipped test when the kernel forbids it.
  std::unique_ptr<Side> make(const char* interface, std::uint8_t last, PortKind kind) {
    auto tried = NicDevice::open(on_veth(interface, last), over(kind));
    if (!tried && tried.error().code == EPERM) {
      [&] { GTEST_SKIP() << tried.error().what; }();
      return nullptr;
    }
    EXPECT_TRUE(tried) << (tried ? "" : tried.error().what);
    if (!tried) return nullptr;
    return std::make_unique<Side>(*tried);
  }
  void join(QueuePair* a, QueuePair* b) {
    QpAttributes to_right = attributes(*right, b->qpn()), to_left = attributes(*left, a->qpn());
    if (GetParam().srv6) {
      make_srv6_profile(*left->device, 4);
      make_srv6_profile(*right->device, 4);
      to_right.ev_profile = to_left.ev_profile = kProfile;
    }
    raise(a, to_right);
    raise(b, to_left);
  }
  /// The outer destinations of the frames that came to the right, "" for frames without an outer header.
  std::set<std::string> outer_destinations() {
    std::set<std::string> out;
    wire::Settings as_captured;
    as_captured.check_udp_checksum = false;  // left to a device that never sees the packet
    port::RxPacket frames[16];
    for (std::size_t n; (n = wire->rx(frames)) != 0;) {
      for (std::size_t i = 0; i < n; ++i) {
        wire::Parsed parsed;
        const wire::Bytes bytes(reinterpret_cast<const std::uint8_t*>(frames[i].data), frames[i].size);
        if (wire::parse_l2(bytes, as_captured, parsed) != Verdict::ok) continue;
        const bool around = parsed.encapsulation == wire::Encapsulation::srv6 ||
                            parsed.encapsulation == wire::Encapsulation::srv6_srh;
        out.insert(around ? to_string(port::Address{parsed.outer_destination.bytes, 0}) : "");
      }
    }
    return out;
  }

  std::unique_ptr<port::testing::Sandbox> sandbox;
  std::unique_ptr<Side> left, right;
  std::unique_ptr<port::Port> wire;
};

INSTANTIATE_TEST_SUITE_P(Kinds, Framed,
                         ::testing::Values(Kinds{"packet_packet", PortKind::packet, PortKind::packet},
                                           Kinds{"packet_udp", PortKind::packet, PortKind::udp},
                                           Kinds{"xdp_xdp", PortKind::xdp, PortKind::xdp},
                                           Kinds{"packet_srv6", PortKind::packet, PortKind::packet, true},
                                           Kinds{"xdp_srv6", PortKind::xdp, PortKind::xdp, true}),
                         [](const auto& p) { return p.param.name; });

// MRC-PORT-006, MRC-PORT-009
TEST_P(Framed, AWriteCrossesInTheFramesAskedFor) {
  if (left == nullptr || right == nullptr) return;
  QueuePair* a = left->create();
  QueuePair* b = right->create();
  join(a, b);
  ASSERT_NE(left->memory, right->memory);
  // A ring that two devices of this process share orders what their threads do, but no race detector sees it;
  // the device's lock it does see.
  const auto meet = [&] { EXPECT_EQ(b->post_receive({}).error, 0); };
  meet();
  const Sge sge{left->va(0), 1 << 20, left->region.lkey};
  SendRequest r;
  r.wr_id = 7;
  r.remote_va = right->va(0);
  r.rkey = right->region.rkey;
  r.sges = std::span(&sge, 1);
  ASSERT_EQ(a->post_send(std::span(&r, 1)).error, 0);
  const auto done = left->poll(1);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, WorkStatus::success);
  meet();
  EXPECT_EQ(left->memory, right->memory);
  if (GetParam().left != PortKind::packet || wire == nullptr) return;
  const std::set<std::string> plain{""};
  const std::set<std::string> carriers{"fcbb:0:1::", "fcbb:0:2::", "fcbb:0:3::", "fcbb:0:4::"};
  EXPECT_EQ(outer_destinations(), GetParam().srv6 ? carriers : plain);
}

// MRC-PORT-009
TEST_F(TwoDevices, SocketsRefuseSrv6Profiles) {
  make_srv6_profile(*a.device, 4);
  QueuePair* qp = a.create();
  QpAttributes with = attributes(b, qb->qpn());
  with.ev_profile = kProfile;
  EXPECT_EQ(qp->modify(QpState::init, with), EINVAL);
  EXPECT_EQ(a.device->profiles().ev(kProfile).users, 0u);
}

TEST(FramedDevice, LoopbackHasNoFrames) {
  DeviceConfig config = loopback("lo", 1);
  config.ports[0].interface.name = "lo";
  config.ports[0].interface.loopback = true;
  const auto opened = NicDevice::open(config, over(PortKind::packet));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, EINVAL);
}

}  // namespace
}  // namespace mrc::lib::testing
