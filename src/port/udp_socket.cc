#include "port/udp_socket.h"

#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <cstdio>

namespace mrc::port {
namespace {

bool set(int fd, int level, int option, int value) {
  return ::setsockopt(fd, level, option, &value, sizeof value) == 0;
}

Result<Fd> open_udp(const Address& address) {
  Fd fd(::socket(address.is_v4() ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return errno_error("open a UDP socket");
  if (!address.is_v4()) set(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
  return fd;
}

Status bind_to(int fd, const Address& address, std::uint16_t udp_port, const std::string& interface) {
  const std::string name = to_string(address) + " UDP port " + std::to_string(udp_port);
  if (!interface.empty() &&
      ::setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface.data(), interface.size()) < 0)
    return errno_error("bind to interface " + interface);
  const SocketAddress socket = to_socket_address(address, udp_port);
  if (::bind(fd, &socket.any, socket.size) == 0) return Done{};
  Error error = errno_error("bind " + name);
  if (error.code == EADDRINUSE)
    error.what += " (another program, or another user's MRC process, has it; 'ss -ulnp' says which)";
  if (error.code == EADDRNOTAVAIL)
    error.what +=
        " (not an address of this host, or the kernel still tries whether another host has it: see 'ip "
        "address show tentative')";
  return error;
}

/// MRC-PORT-004: DF set and no path-MTU guessing: a packet that doesn't fit the link is our error, never a
/// fragment.
void forbid_fragments(int fd, bool v4) {
  if (v4)
    set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
  else
    set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
}

void tell_headers(int fd, bool v4, bool any_address) {
  if (v4) {
    set(fd, IPPROTO_IP, IP_RECVTOS, 1);
    if (any_address) set(fd, IPPROTO_IP, IP_PKTINFO, 1);
  } else {
    set(fd, IPPROTO_IPV6, kIpv6FlowInfo, 1);
    if (any_address) set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
  }
  set(fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
}

}  // namespace

void configure_receive_socket(int fd, const ReceiveSocketOptions& options) {
  const bool v4 = options.bind.is_v4();
  set(fd, SOL_UDP, UDP_GRO, 1);
  tell_headers(fd, v4, options.bind.is_any());
  forbid_fragments(fd, v4);
  if (!v4) set(fd, IPPROTO_IPV6, kIpv6FlowInfoSend, 1);
  set(fd, SOL_SOCKET, SO_TIMESTAMPNS, options.timestamps ? 1 : 0);
  size_receive_buffer(fd, options.buffer);
}

Result<Fd> open_receive_socket(const ReceiveSocketOptions& options) {
  auto fd = open_udp(options.bind);
  if (!fd) return fd;
  if (options.sharing == Sharing::reuse_port) set(fd->get(), SOL_SOCKET, SO_REUSEPORT, 1);
  configure_receive_socket(fd->get(), options);
  if (auto bound = bind_to(fd->get(), options.bind, options.udp_port, options.interface); !bound)
    return bound.error();
  return fd;
}

Result<Fd> open_send_socket(const Address& local, std::uint16_t source_port, const std::string& interface,
                            bool flow_label) {
  auto fd = open_udp(local);
  if (!fd) return fd;
  // Nobody sends to an EV's source port: what arrives is a mistake, and must not fill a queue that is never
  // read.
  sock_filter drop_all[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
  const sock_fprog program{1, drop_all};
  ::setsockopt(fd->get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
  set(fd->get(), SOL_SOCKET, SO_REUSEADDR, 1);
  forbid_fragments(fd->get(), local.is_v4());
  if (flow_label) set(fd->get(), IPPROTO_IPV6, kIpv6FlowInfoSend, 1);
  if (auto bound = bind_to(fd->get(), local, source_port, interface); !bound) return bound.error();
  return fd;
}

void size_receive_buffer(int fd, std::uint32_t bytes) {
  if (!set(fd, SOL_SOCKET, SO_RCVBUFFORCE, static_cast<int>(bytes)))
    set(fd, SOL_SOCKET, SO_RCVBUF, static_cast<int>(bytes));
}

std::uint64_t receive_buffer_of(int fd) {
  int bytes = 0;
  socklen_t size = sizeof bytes;
  if (::getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &size) < 0 || bytes < 0) return 0;
  return static_cast<std::uint64_t>(bytes);
}

std::uint32_t drops_of(int fd) {
  std::uint32_t about[SK_MEMINFO_VARS]{};
  socklen_t size = sizeof about;
  return ::getsockopt(fd, SOL_SOCKET, SO_MEMINFO, about, &size) < 0 ? 0 : about[SK_MEMINFO_DROPS];
}

void detach_filter(int fd) { set(fd, SOL_SOCKET, SO_DETACH_FILTER, 0); }

bool can_send_flow_label(const Address& local) {
  if (local.is_v4()) return false;
  auto fd = open_udp(local);
  if (!fd || !set(fd->get(), IPPROTO_IPV6, kIpv6FlowInfoSend, 1)) return false;
  // Connecting looks the label up without sending: the kernel refuses it only where labels are leased
  // exclusively.
  const SocketAddress self = to_socket_address(local, 9, 0x12345);
  return ::connect(fd->get(), &self.any, self.size) == 0;
}

std::uint16_t lowest_bindable_port() {
  if (::geteuid() == 0) return 1;
  unsigned port = 1024;
  if (std::FILE* file = std::fopen("/proc/sys/net/ipv4/ip_unprivileged_port_start", "re")) {
    if (std::fscanf(file, "%u", &port) != 1) port = 1024;
    std::fclose(file);
  }
  return static_cast<std::uint16_t>(port > 0xFFFF ? 0xFFFF : port == 0 ? 1 : port);
}

Status attach_reuse_port_program(int fd, std::span<const sock_filter> program) {
  const sock_fprog code{static_cast<unsigned short>(program.size()),
                        const_cast<sock_filter*>(program.data())};
  if (::setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &code, sizeof code) < 0)
    return errno_error("steer packets to processes by QP number (SO_ATTACH_REUSEPORT_CBPF)");
  return Done{};
}

}  // namespace mrc::port
