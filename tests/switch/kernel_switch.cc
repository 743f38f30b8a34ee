#include "kernel_switch.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "own_namespace.h"

namespace mrc::testing {
namespace {

std::string make_port(int i) {
  const std::string sw = "sw" + std::to_string(i), te = "te" + std::to_string(i);
  std::string out = run("ip link add name " + sw + " mtu 9000 type veth peer name " + te + " mtu 9000");
  write_file("/proc/sys/net/ipv6/conf/" + te + "/disable_ipv6", "1");
  write_file("/proc/sys/net/ipv6/conf/" + sw + "/seg6_enabled", "1");
  out += run("ip link set dev " + sw + " addrgenmode none up");
  out += run("ip link set dev " + te + " up");
  out += run("ip -6 address add fe80::1/64 dev " + sw + " nodad");
  out += run("ip -6 neighbour add fe80::2 lladdr 02:00:00:00:00:0" + std::to_string(i) + " dev " + sw);
  return out;
}

int open_socket(int i) {
  const int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
  const int on = 1;
  setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on);
  sockaddr_ll at{};
  at.sll_family = AF_PACKET;
  at.sll_protocol = htons(ETH_P_ALL);
  at.sll_ifindex = static_cast<int>(if_nametoindex(("te" + std::to_string(i)).c_str()));
  return bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0 ? fd : -1;
}

bool read_mac(int fd, int i, std::uint8_t* out) {
  ifreq request{};
  std::snprintf(request.ifr_name, sizeof request.ifr_name, "sw%d", i);
  if (ioctl(fd, SIOCGIFHWADDR, &request) != 0) return false;
  std::memcpy(out, request.ifr_hwaddr.sa_data, 6);
  return true;
}

std::string with_port(std::string line) {
  const auto at = line.find("port");
  if (at == std::string::npos) return line;
  return line.substr(0, at) + "via fe80::2 dev sw" + line.substr(at + 4);
}

}  // namespace

std::optional<std::string> KernelSwitch::start(const std::string& own,
                                               const std::vector<std::string>& routes) {
  // One processor, so that frames stay in order from queue to queue.
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(std::max(sched_getcpu(), 0)), &one);
  sched_setaffinity(0, sizeof one, &one);
  if (!enter_namespace()) return "this machine forbids user and network namespaces";
  std::string problems = run("ip link set dev lo up");
  for (const char* name : {"all", "default"}) {
    write_file(std::string("/proc/sys/net/ipv6/conf/") + name + "/forwarding", "1");
    write_file(std::string("/proc/sys/net/ipv6/conf/") + name + "/seg6_enabled", "1");
  }
  for (int i = 0; i < kPorts; ++i) problems += make_port(i);
  problems += run("ip -6 route add " + own +
                  " encap seg6local action End flavors next-csid lblen 32 nflen 16 dev sw0");
  for (const std::string& r : routes) problems += run("ip -6 route add " + with_port(r));
  if (!problems.empty()) return "the switch can not be made: " + problems;
  for (int i = 0; i < kPorts; ++i) {
    fds_[i] = open_socket(i);
    if (fds_[i] < 0 || !read_mac(fds_[i], i, mac_[i]))
      return "no packet socket: " + std::string(strerror(errno));
  }
  return std::nullopt;
}

void KernelSwitch::send(int port, Frame frame) {
  std::copy_n(mac_[port], 6, frame.begin());
  const std::uint8_t ours[6] = {2, 0, 0, 0, 0, static_cast<std::uint8_t>(port)};
  std::copy_n(ours, 6, frame.begin() + 6);
  (void)!::send(fds_[port], frame.data(), frame.size(), 0);
}

std::optional<KernelSwitch::Received> KernelSwitch::receive() {
  pollfd polls[kPorts];
  for (int i = 0; i < kPorts; ++i) polls[i] = {fds_[i], POLLIN, 0};
  if (poll(polls, kPorts, 1000) <= 0) return std::nullopt;
  for (int i = 0; i < kPorts; ++i) {
    if ((polls[i].revents & POLLIN) == 0) continue;
    Received r{i, Frame(10'000)};
    const ssize_t n = recv(fds_[i], r.frame.data(), r.frame.size(), 0);
    r.frame.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
    return r;
  }
  return std::nullopt;
}

}  // namespace mrc::testing
