// Frames per second through `mrc switch` on one core, beside those through its bare ports in the same run.
//
// Two veths in a namespace of our own: a thread sends 1 KiB frames into one, the switch (or a loop that only
// receives and sends) moves them to the other. Rates are per second of the mover's CPU time, so that a busy
// machine does not spoil them; the wall clock's are printed beside.
//
//   switch_throughput [--seconds 2] [--bytes 1024] [--json]
#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "lab/switch_loop.h"
#include "lab/switch_plan.h"
#include "port/packet_port.h"
#include "switch/own_namespace.h"
#include "wire/codec.h"
#include "wire/testing.h"

namespace mrc::lab {
namespace {

using Bytes = std::vector<std::uint8_t>;

double seconds_of(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

bool make_namespace() {
  if (!mrc::testing::enter_namespace()) return false;
  // d0 and d1 are the ports of a T0 with two hosts and no T1; x0 and x1 are the hosts' ends.
  return std::system(
             "for i in 0 1; do ip link add name d$i mtu 9000 type veth peer name x$i mtu 9000 && "
             "echo 1 > /proc/sys/net/ipv6/conf/x$i/disable_ipv6 && echo 1 > "
             "/proc/sys/net/ipv6/conf/d$i/disable_ipv6 && "
             "ip link set dev d$i up && ip link set dev x$i up || exit 1; done") == 0;
}

Bytes make_frame(const topo::Topology& topo, std::size_t size) {
  Prng random(1);
  const topo::Path p = topo.path(topo::HostId(0), topo::HostId(1), topo::Choice{});
  wire::Route route;
  route.source.bytes = topo.address(topo::HostId(0), 0).bytes;
  route.destination.bytes = topo.address(topo::HostId(1), 0).bytes;
  route.usid_carrier.emplace().bytes = topo.carriers(topo.usids(p)).addresses[0].bytes;
  const wire::Packet packet = wire::testing::random_packet(wire::Opcode::write_only, random);
  const Bytes payload = wire::testing::random_bytes(size, random);
  Bytes out(size + 512);
  const std::size_t overhead = wire::emit_l2(packet, {}, route, {}, {}, payload, {}, out) - size;
  out.resize(wire::emit_l2(packet, {}, route, {}, {}, wire::Bytes(payload).first(size - overhead), {}, out));
  return out;
}

std::unique_ptr<port::Port> open(const char* interface) {
  auto port = port::PacketPort::open({.interface = interface, .udp_port = 0});
  if (!port) {
    std::fprintf(stderr, "%s\n", port.error().what.c_str());
    std::exit(1);
  }
  return std::move(*port);
}

/// Keeps the switch's input full until told to stop.
void generate(const Bytes& frame, std::atomic<bool>& stop) {
  auto port = open("x0");
  iovec piece{const_cast<std::uint8_t*>(frame.data()), frame.size()};
  std::vector<port::TxTrain> trains(64);
  while (!stop) {
    for (port::TxTrain& t : trains)
      t = {.pieces = &piece, .piece_count = 1, .packet_bytes = static_cast<std::uint32_t>(frame.size())};
    if (port->tx(trains) == 0) std::this_thread::yield();
  }
}

struct Figure {
  double per_cpu_second = 0, per_second = 0;
};

/// Runs `turn` (which returns how many frames it moved) against a full input.
template <class Turn>
Figure measure(const Bytes& frame, double seconds, Turn turn) {
  std::atomic<bool> stop = false;
  std::thread sender([&] { generate(frame, stop); });
  const double wall = seconds_of(CLOCK_MONOTONIC), cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  std::uint64_t moved = 0;
  while (seconds_of(CLOCK_MONOTONIC) - wall < seconds) moved += turn();
  const double cpu_spent = seconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu,
               wall_spent = seconds_of(CLOCK_MONOTONIC) - wall;
  stop = true;
  sender.join();
  return {static_cast<double>(moved) / cpu_spent, static_cast<double>(moved) / wall_spent};
}

Figure bare_ports(const Bytes& frame, double seconds) {
  auto in = open("d0"), out = open("d1");
  std::array<port::RxPacket, 32> packets;
  std::array<port::TxTrain, 32> trains;
  std::array<iovec, 32> pieces;
  return measure(frame, seconds, [&]() -> std::uint64_t {
    const std::size_t n = in->rx(packets);
    for (std::size_t i = 0; i < n; ++i) {
      pieces[i] = {const_cast<std::byte*>(packets[i].data), packets[i].size};
      trains[i] = {.pieces = &pieces[i], .piece_count = 1, .packet_bytes = packets[i].size};
    }
    return n == 0 ? 0 : out->tx(std::span(trains).first(n));
  });
}

Figure through_switch(const topo::Topology& topo, const Bytes& frame, double seconds) {
  const topo::Node node = topo::switch_node(0, topo::Tier::t0, 0);
  const SwitchTuning tuning{.limit_rate = false};
  std::vector<SoftPort> ports;
  for (std::uint32_t p = 0; p < 2; ++p) {
    auto port = open_soft_port(topo.port_name({node, p}), link_settings(topo, {node, p}, tuning), {});
    if (!port) {
      std::fprintf(stderr, "%s\n", port.error().what.c_str());
      std::exit(1);
    }
    ports.push_back(std::move(*port));
  }
  SoftSwitch sw(switch_settings(topo, node, tuning), std::move(ports));
  std::uint64_t sent = 0;
  return measure(frame, seconds, [&]() -> std::uint64_t {
    sw.turn(
        fabric::PsTime(fabric::PsDuration(static_cast<std::int64_t>(seconds_of(CLOCK_MONOTONIC) * 1e12))));
    const std::uint64_t before = std::exchange(sent, sw.counters().sent);
    return sent - before;
  });
}

void print(const char* what, const Figure& f, std::size_t size) {
  std::printf("%-12s %7.3f Mpps, %6.2f Gb/s per CPU second; %7.3f Mpps by the wall clock\n", what,
              f.per_cpu_second / 1e6, f.per_cpu_second * static_cast<double>(size) * 8 / 1e9,
              f.per_second / 1e6);
}

int main_program(double seconds, std::size_t size, bool json) {
  if (!make_namespace()) {
    std::fprintf(stderr, "this machine forbids user and network namespaces\n");
    return 1;
  }
  const auto topo = *topo::Topology::make({.planes = 1, .tiers = 1, .t0 = 1, .hosts_per_t0 = 2});
  const Bytes frame = make_frame(topo, size);
  if (!json) std::printf("frames of %zu bytes, %g s each, three times in turn\n", frame.size(), seconds);
  nlohmann::ordered_json rounds = nlohmann::ordered_json::array();
  for (int i = 0; i < 3; ++i) {
    const Figure bare = bare_ports(frame, seconds), sw = through_switch(topo, frame, seconds);
    rounds.push_back({{"bare_mpps", bare.per_cpu_second / 1e6},
                      {"switch_mpps", sw.per_cpu_second / 1e6},
                      {"ratio", sw.per_cpu_second / bare.per_cpu_second}});
    if (json) continue;
    print("bare ports", bare, frame.size());
    print("mrc switch", sw, frame.size());
    std::printf("ratio        %7.3f\n", sw.per_cpu_second / bare.per_cpu_second);
  }
  const nlohmann::ordered_json out = {{"frame_bytes", frame.size()}, {"rounds", rounds}};
  if (json) std::printf("%s\n", out.dump(2).c_str());
  return 0;
}

}  // namespace
}  // namespace mrc::lab

int main(int argc, char** argv) {
  CLI::App app{"frames per second through `mrc switch` on one core, beside those through its bare ports"};
  double seconds = 2;
  std::size_t bytes = 1024;
  bool json = false;
  app.add_option("--seconds", seconds, "of each run")->check(CLI::Range(0.1, 60.0))->capture_default_str();
  app.add_option("--bytes", bytes, "of each frame")->check(CLI::Range(256, 8192))->capture_default_str();
  app.add_flag("--json", json, "one JSON object");
  app.footer("Example: switch_throughput --seconds 1");
  CLI11_PARSE(app, argc, argv);
  return mrc::lab::main_program(seconds, bytes, json);
}
