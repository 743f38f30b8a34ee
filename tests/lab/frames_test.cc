// SRv6 as specified, written by the host itself: two NICs over packet sockets move data through the kernel's
// switches, each packet in an outer header with the uSIDs of its EV.
#include <poll.h>

#include <chrono>

#include "datapath/testing.h"
#include "hosts.h"
#include "node/topology_routes.h"
#include "port/direct_port.h"
#include "port/framed_port.h"
#include "port/packet_port.h"
#include "port/udp_port.h"

namespace mrc {
namespace {

using datapath::testing::Station;
using lab::Lab;
using topo::HostId;
using topo::Topology;

constexpr std::uint32_t kBytes = 1 << 20;

/// A NIC of one port on a host of the lab. The port takes only what came by the host's segment id.
std::unique_ptr<port::Port> open_port(const Topology& topo, HostId host) {
  auto frames = port::PacketPort::open({.interface = "p0"});
  if (!frames) return ADD_FAILURE() << frames.error().what, nullptr;
  port::FramedPortOptions options{.local = {topo.address(host, 0).bytes, 0}};
  options.sid = topo.sid(host, 0);
  options.fabric = topo.spec().host_prefix;
  auto framed = port::FramedPort::open(std::move(*frames), options);
  if (!framed) return ADD_FAILURE() << framed.error().what, nullptr;
  return std::move(*framed);
}

/// The same over an ordinary socket that sends to the carrier itself.
std::unique_ptr<port::Port> open_direct(const Topology& topo, HostId host) {
  auto udp = port::UdpPort::open({.local = {topo.address(host, 0).bytes, 0}, .all_addresses = true});
  if (!udp) return ADD_FAILURE() << udp.error().what, nullptr;
  // Now, while this process stands on the host.
  for (std::uint32_t i = 0; i < topo.evs(); ++i)
    EXPECT_EQ((*udp)->prepare_source_port(static_cast<std::uint16_t>(topo.ev_at(i).value)), 0);
  return std::make_unique<port::DirectPort>(std::move(*udp), topo.sid(host, 0));
}

using OpenPort = std::unique_ptr<port::Port> (*)(const Topology& topo, HostId host);

nic::PathTable paths_of(const Topology& topo) {
  std::vector<engine::Path> paths;
  for (std::uint32_t i = 0; i < topo.evs(); ++i) paths.push_back({topo.ev_at(i), PortId(1)});
  return std::make_shared<const std::vector<engine::Path>>(std::move(paths));
}

Time now() { return Time(std::chrono::steady_clock::now().time_since_epoch()); }

bool transfer(Station& a, Station& b, const port::Port& left, const port::Port& right, nic::Qp& qp) {
  if (write(a, b, now(), qp, 0, 0, kBytes) != 0) return false;
  std::vector<nic::Cqe> done;
  for (const Time end = now() + 20s; done.empty() && now() < end;) {
    const bool moved = a.driver.turn(now()) | b.driver.turn(now());
    done = a.host.poll();
    if (moved || !done.empty()) continue;
    pollfd fds[] = {{left.wait_fd(), POLLIN, 0}, {right.wait_fd(), POLLIN, 0}};
    ::poll(fds, 2, 1);
  }
  return done.size() == 1 && done[0].status == engine::WorkStatus::success && a.host.memory == b.host.memory;
}

/// Runs where the lab's hosts are: 0 when every byte came by every EV's way and none by another.
int move_data(Lab& lab, const Topology& topo, OpenPort open = open_port) {
  const HostId far(topo.hosts() - 1);
  auto left = open(topo, HostId(0));
  if (!lab.enter(topo.name(topo::host_node(far)))) return 2;
  auto right = open(topo, far);
  if (!left || !right) return 3;
  const node::TopologyRoutes from_left(topo, HostId(0)), from_right(topo, far);
  datapath::DriverSettings settings_a, settings_b;
  settings_a.outbox.routes = &from_left;
  settings_b.outbox.routes = &from_right;
  nic::testing::HostOptions options;
  options.ports = 1;
  Station a(1, options, {left.get()}, settings_a), b(2, options, {right.get()}, settings_b);
  nic::QpConnect like;
  like.paths = paths_of(topo);
  const auto qps = connect(a, b, now(), like);
  if (!transfer(a, b, *left, *right, qps.a)) {
    for (const port::Port* p : {left.get(), right.get()}) {
      const port::Counters& c = p->counters();
      std::fprintf(stderr, "in %lu out %lu discarded %lu outside %lu wrong inner %lu\n", c.rx_packets,
                   c.tx_packets, c.tx_discarded, c.rx_outside, c.rx_wrong_inner);
    }
    return 4;
  }
  for (const port::Port* p : {left.get(), right.get()}) {
    if (p->counters().rx_packets == 0) return 5;
    if (p->counters().rx_outside + p->counters().rx_wrong_inner != 0) return 6;
  }
  return 0;
}

// MRC-PORT-006
TEST(LabFrames, DataGoesByOneCarrier) {
  const auto topo = *Topology::make({.planes = 1, .tiers = 2, .t0 = 2, .t1 = 2, .hosts_per_t0 = 1});
  MRC_LAB_OR_SKIP(lab, topo, {});
  EXPECT_EQ(testing::on_node(lab, "h0", [&] { return move_data(lab, topo); }), 0);
}

// MRC-PORT-007: a locator of 48 bits leaves room for five uSIDs; three tiers need six.
TEST(LabFrames, DataGoesByTwoCarriersAndAnSrh) {
  topo::Spec spec{.planes = 1, .tiers = 3, .pods = 2, .t0 = 1, .t1 = 2, .t2 = 2, .hosts_per_t0 = 1};
  spec.locator = *parse_ipv6_prefix("fcbb:bb00:1::/48");
  const auto topo = Topology::make(spec);
  ASSERT_TRUE(topo) << topo.error().what;
  const auto path = topo->path(HostId(0), HostId(1), topo::Choice{});
  ASSERT_EQ(topo->carriers(topo->usids(path)).count, 2);
  MRC_LAB_OR_SKIP(lab, *topo, {});
  EXPECT_EQ(testing::on_node(lab, "h0", [&] { return move_data(lab, *topo); }), 0);
}

// MRC-PORT-010: and what comes by another way than the segment id is refused.
TEST(LabFrames, DataGoesByDirectAddressing) {
  const auto topo = *Topology::make({.planes = 1, .tiers = 2, .t0 = 2, .t1 = 2, .hosts_per_t0 = 1});
  lab::LabSettings settings;
  settings.wiring.direct = true;
  MRC_LAB_OR_SKIP(lab, topo, settings);
  EXPECT_EQ(testing::on_node(lab, "h0", [&] { return move_data(lab, topo, open_direct); }), 0);
  EXPECT_EQ(testing::on_node(lab, "h1",
                             [&] {
                               const auto port = open_direct(topo, HostId(1));
                               const auto stranger = testing::udp_socket_on(lab, "h0", 20000);
                               if (!port ||
                                   !testing::send_to(stranger.get(), topo.address(HostId(1), 0), 4791, 'x'))
                                 return 1;
                               pollfd waiting{port->wait_fd(), POLLIN, 0};
                               std::array<port::RxPacket, 4> packets;
                               if (::poll(&waiting, 1, 20'000) != 1 || port->rx(packets) != 0) return 2;
                               return port->counters().rx_outside == 1 ? 0 : 3;
                             }),
            0);
}

}  // namespace
}  // namespace mrc
