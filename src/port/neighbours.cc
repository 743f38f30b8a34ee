#include "port/neighbours.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>

#include "port/no_cancel.h"

namespace mrc::port {
namespace {

constexpr int kAnswerTimeoutMs = 1000;
constexpr std::uint16_t kDiscardPort = 9;

std::size_t bytes_of(const Address& a) { return a.is_v4() ? 4 : 16; }
const std::uint8_t* start_of(const Address& a) { return a.ip.data() + (a.is_v4() ? 12 : 0); }

/// A netlink request with one attribute, an address.
template <class Body>
struct Query {
  nlmsghdr header{};
  Body body{};
  alignas(rtattr) char attribute[RTA_SPACE(16)] = {};

  void set_address(unsigned short type, const Address& address) {
    rtattr a{};
    a.rta_type = type;
    a.rta_len = static_cast<unsigned short>(RTA_LENGTH(bytes_of(address)));
    std::memcpy(attribute, &a, sizeof a);
    std::memcpy(attribute + RTA_LENGTH(0), start_of(address), bytes_of(address));
    header.nlmsg_len = static_cast<std::uint32_t>(NLMSG_LENGTH(sizeof body) + RTA_SPACE(bytes_of(address)));
    header.nlmsg_flags = NLM_F_REQUEST;
  }
};

Address address_from(const void* data, std::size_t size) {
  if (size == 4) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    std::memcpy(&v4.sin_addr, data, 4);
    return from_socket_address(reinterpret_cast<const sockaddr&>(v4));
  }
  Address out;
  std::memcpy(out.ip.data(), data, 16);
  return out;
}

Result<Fd> open_netlink(std::uint32_t groups) {
  Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  if (!fd) return errno_error("open a netlink socket");
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = groups;
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) < 0)
    return errno_error("bind a netlink socket");
  return fd;
}

}  // namespace

Result<Neighbours> Neighbours::open(std::uint32_t interface) {
  auto events = open_netlink(RTMGRP_NEIGH | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE);
  if (!events) return events.error();
  auto queries = open_netlink(0);
  if (!queries) return queries.error();
  return Neighbours(interface, std::move(*events), std::move(*queries));
}

void Neighbours::update() {
  char news[8192];
  bool changed = false;
  while (::recv(events_.get(), news, sizeof news, MSG_DONTWAIT) >= 0 || errno == ENOBUFS) changed = true;
  if (changed) known_.clear();
}

std::optional<wire::MacAddress> Neighbours::find(const Address& to) {
  const wire::IpAddress key{to.ip};
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  if (known_.size() >= kMaxRemembered) known_.clear();
  const NoCancel whole;
  const auto hop = next_hop(to);
  const auto mac = hop ? look_up(*hop) : std::nullopt;
  known_.emplace(key, mac);
  if (hop && !mac) provoke(*hop);
  return mac;
}

bool Neighbours::ask(const void* request, std::size_t size, char* answer, std::size_t room,
                     std::size_t& got) const {
  if (::send(queries_.get(), request, size, 0) < 0) return false;
  pollfd ready{queries_.get(), POLLIN, 0};
  if (::poll(&ready, 1, kAnswerTimeoutMs) != 1) return false;
  const ssize_t n = ::recv(queries_.get(), answer, room, MSG_DONTWAIT);
  got = n > 0 ? static_cast<std::size_t>(n) : 0;
  return n >= static_cast<ssize_t>(sizeof(nlmsghdr));
}

std::optional<Address> Neighbours::next_hop(const Address& to) {
  Query<rtmsg> query;
  query.header.nlmsg_type = RTM_GETROUTE;
  query.body.rtm_family = to.is_v4() ? AF_INET : AF_INET6;
  query.body.rtm_dst_len = static_cast<unsigned char>(8 * bytes_of(to));
  query.set_address(RTA_DST, to);
  alignas(nlmsghdr) char answer[4096];
  std::size_t got = 0;
  if (!ask(&query, query.header.nlmsg_len, answer, sizeof answer, got)) return std::nullopt;
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer);
  if (!NLMSG_OK(header, got) || header->nlmsg_type != RTM_NEWROUTE) return std::nullopt;
  const auto* route = static_cast<const rtmsg*>(NLMSG_DATA(header));
  Address hop = to;
  std::uint32_t by = 0;
  auto left = static_cast<unsigned>(RTM_PAYLOAD(header));
  for (auto* a = RTM_RTA(route); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
    if (a->rta_type == RTA_OIF) std::memcpy(&by, RTA_DATA(a), sizeof by);
    if (a->rta_type == RTA_GATEWAY) hop = address_from(RTA_DATA(a), RTA_PAYLOAD(a));
  }
  if (by != interface_) return std::nullopt;
  return hop;
}

std::optional<wire::MacAddress> Neighbours::look_up(const Address& hop) {
  Query<ndmsg> query;
  query.header.nlmsg_type = RTM_GETNEIGH;
  query.body.ndm_family = hop.is_v4() ? AF_INET : AF_INET6;
  query.body.ndm_ifindex = static_cast<int>(interface_);
  query.set_address(NDA_DST, hop);
  alignas(nlmsghdr) char answer[4096];
  std::size_t got = 0;
  if (!ask(&query, query.header.nlmsg_len, answer, sizeof answer, got)) return std::nullopt;
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer);
  if (!NLMSG_OK(header, got) || header->nlmsg_type != RTM_NEWNEIGH) return std::nullopt;
  const auto* neighbour = static_cast<const ndmsg*>(NLMSG_DATA(header));
  if ((neighbour->ndm_state & (NUD_FAILED | NUD_INCOMPLETE)) != 0) return std::nullopt;
  auto left = static_cast<unsigned>(NLMSG_PAYLOAD(header, sizeof(ndmsg)));
  const auto* first = reinterpret_cast<const char*>(neighbour) + NLMSG_ALIGN(sizeof(ndmsg));
  for (auto* a = reinterpret_cast<const rtattr*>(first); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
    if (a->rta_type != NDA_LLADDR || RTA_PAYLOAD(a) != 6) continue;
    wire::MacAddress mac;
    std::memcpy(mac.bytes.data(), RTA_DATA(a), 6);
    return mac;
  }
  return std::nullopt;
}

/// The kernel looks for a neighbour when it has something to send him: one byte to the discard port.
void Neighbours::provoke(const Address& to) const {
  const SocketAddress address = to_socket_address(to, kDiscardPort);
  const Fd fd(::socket(address.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd) ::sendto(fd.get(), "", 1, MSG_DONTWAIT, &address.any, address.size);
}

Result<wire::MacAddress> mac_of(std::uint32_t interface) {
  const Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  request.ifr_ifindex = static_cast<int>(interface);
  if (!fd || ::ioctl(fd.get(), SIOCGIFNAME, &request) < 0 || ::ioctl(fd.get(), SIOCGIFHWADDR, &request) < 0)
    return errno_error("read the MAC address of interface " + std::to_string(interface));
  if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER)
    return Error{ENOTSUP, "interface " + std::string(request.ifr_name) + " isn't Ethernet"};
  wire::MacAddress mac;
  std::memcpy(mac.bytes.data(), request.ifr_hwaddr.sa_data, 6);
  return mac;
}

}  // namespace mrc::port
