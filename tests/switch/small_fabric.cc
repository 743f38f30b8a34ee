#include "small_fabric.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>

#include "lab/switch_loop.h"
#include "lab/switch_plan.h"
#include "own_namespace.h"
#include "topo/emit.h"

namespace mrc::testing {
namespace {

using topo::HostId;
using topo::Tier;

int this_namespace() { return open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC); }

std::string run_script(const std::string& text) {
  char path[] = "/tmp/mrc_host_XXXXXX";
  close(mkstemp(path));
  write_file(path, text);
  const std::string out = run(std::string("sh ") + path);
  unlink(path);
  return out;
}

std::string veth(const std::string& a, const std::string& b) {
  return run("ip link add name " + a + " mtu 3000 type veth peer name " + b +
             " mtu 3000 && ip link set dev " + a + " up && ip link set dev " + b + " up");
}

}  // namespace

std::optional<std::string> SmallFabric::start(int small) {
  if (!enter_namespace()) return "this machine forbids user and network namespaces";
  home_ = this_namespace();
  std::string problems = make_hosts();
  problems += veth("a.u0", "s.d0");
  problems += veth("b.u0", "s.d1");
  if (problems.empty()) problems = make_switches(small);
  if (!problems.empty()) return "the fabric can not be made: " + problems;
  return std::nullopt;
}

SmallFabric::~SmallFabric() {
  for (const int fd : {home_, hosts_[0], hosts_[1]}) {
    if (fd >= 0) close(fd);
  }
}

std::string SmallFabric::in_host(std::uint32_t host, const std::function<std::string()>& work) {
  if (setns(hosts_[host], CLONE_NEWNET) != 0) return "setns failed";
  std::string out = work();
  setns(home_, CLONE_NEWNET);
  return out;
}

std::string SmallFabric::make_hosts() {
  std::string problems;
  for (std::uint32_t h = 0; h < 2; ++h) {
    if (unshare(CLONE_NEWNET) != 0) return "unshare failed";
    hosts_[h] = this_namespace();
    setns(home_, CLONE_NEWNET);
    const std::string port = h == 0 ? "a.d0" : "b.d0";
    problems += run("ip link add name " + port + " mtu 3000 type veth peer name p0 mtu 3000 netns /proc/" +
                    std::to_string(getpid()) + "/fd/" + std::to_string(hosts_[h]) + " && ip link set dev " +
                    port + " up");
    const topo::Path path = topo_.path(HostId(h), HostId(1 - h), topo::Choice{});
    const std::string encapsulate = "ip -6 route add " + to_string(topo_.address(HostId(1 - h), 0)) +
                                    "/128 encap seg6 mode encap.red segs " +
                                    to_string(topo_.carriers(topo_.usids(path)).addresses[0]) + " dev p0";
    problems += in_host(h, [&] {
      std::string out = run("ip link set dev lo up");
      out += run_script(topo::emit_iproute2(topo::node_config(topo_, host_node(HostId(h)))));
      out += run(encapsulate);
      return out;
    });
  }
  return problems;
}

std::string SmallFabric::make_switches(int small) {
  const topo::Node nodes[] = {topo::switch_node(0, Tier::t0, 0), topo::switch_node(0, Tier::t0, 1),
                              topo::switch_node(0, Tier::t1, 0)};
  const char* prefixes[] = {"a.", "b.", "s."};
  for (int i = 0; i < 3; ++i) {
    lab::SwitchTuning tuning;
    tuning.link.data_limit = i == small ? 20'000 : 1'000'000;
    tuning.link.ecn_low = i == small ? 4'000 : 500'000;
    tuning.link.ecn_high = i == small ? 12'000 : 1'000'000;
    std::vector<lab::SoftPort> ports;
    for (std::uint32_t p = 0; p < topo_.ports(nodes[i]); ++p) {
      auto port = lab::open_soft_port(prefixes[i] + topo_.port_name({nodes[i], p}),
                                      lab::link_settings(topo_, {nodes[i], p}, tuning),
                                      {{}, topo_.link_local(topo_.peer({nodes[i], p})->node)});
      if (!port) return port.error().what;
      ports.push_back(std::move(*port));
    }
    switches_.push_back(
        std::make_unique<lab::SoftSwitch>(lab::switch_settings(topo_, nodes[i], tuning), std::move(ports)));
  }
  return {};
}

int SmallFabric::udp_socket(std::uint32_t host) {
  int fd = -1;
  in_host(host, [&] {
    fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return std::string();
  });
  sockaddr_in6 at{};
  at.sin6_family = AF_INET6;
  at.sin6_port = htons(4791);
  std::memcpy(&at.sin6_addr, topo_.address(HostId(host), 0).bytes.data(), 16);
  const int on = 1, room = 4 << 20;
  setsockopt(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  return bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0 ? fd : -1;
}

bool SmallFabric::run_until(const std::function<bool()>& done) {
  using Clock = std::chrono::steady_clock;
  auto last_moved = Clock::now();
  while (!done()) {
    const auto now = Clock::now();
    const fabric::PsTime at(std::chrono::duration_cast<fabric::PsDuration>(now.time_since_epoch()));
    bool moved = false;
    for (auto& sw : switches_) {
      moved |= sw->turn(at);
      sw->service(at);
    }
    if (moved) last_moved = now;
    if (now - last_moved > std::chrono::seconds(2)) return false;
  }
  return true;
}

}  // namespace mrc::testing
