#include "port/link_watch.h"

#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>

namespace mrc::port {
namespace {

constexpr int kAnswerTimeoutMs = 2000;
// <linux/if.h> has them, and can't be included beside <net/if.h>.
constexpr unsigned kLowerUp = 1 << 16;
constexpr std::uint8_t kOperationallyUp = 6;

/// The driver's word for the speed; 0 when it doesn't know (loopback, tunnels, link down). Asked through the
/// netlink socket, because that one stays in the namespace where the port was opened.
std::uint64_t speed_of(int socket, std::uint32_t interface) {
  ifreq request{};
  request.ifr_ifindex = static_cast<int>(interface);
  if (::ioctl(socket, SIOCGIFNAME, &request) < 0) return 0;
  ethtool_cmd command{};
  command.cmd = ETHTOOL_GSET;
  request.ifr_data = reinterpret_cast<char*>(&command);
  if (::ioctl(socket, SIOCETHTOOL, &request) < 0) return 0;
  const std::uint32_t megabits = ethtool_cmd_speed(&command);
  return megabits == static_cast<std::uint32_t>(SPEED_UNKNOWN) ? 0 : std::uint64_t{megabits} * 1'000'000;
}

}  // namespace

Result<LinkWatch> LinkWatch::open(std::uint32_t interface) {
  Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  if (!socket) return errno_error("open a netlink socket");
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK;
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) < 0)
    return errno_error("listen to link changes");
  LinkWatch watch(std::move(socket), interface);
  if (auto asked = watch.ask(); !asked) return asked.error();
  if (!watch.await_first_answer())
    return Error{ENODEV, "no interface with index " + std::to_string(interface)};
  watch.changed_ = false;
  return watch;
}

Status LinkWatch::ask() const {
  struct {
    nlmsghdr header;
    ifinfomsg body;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = RTM_GETLINK;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.body.ifi_index = static_cast<int>(link_.interface);
  if (::send(socket_.get(), &request, sizeof request, 0) < 0) return errno_error("ask for the link's state");
  return Done{};
}

bool LinkWatch::await_first_answer() {
  pollfd ready{socket_.get(), POLLIN, 0};
  while (link_.mtu == 0) {
    if (::poll(&ready, 1, kAnswerTimeoutMs) <= 0) return false;
    update();
    if (link_.interface == 0) return false;
  }
  return true;
}

bool LinkWatch::update() {
  const Link before = link_;
  alignas(nlmsghdr) char buffer[16384];
  for (;;) {
    const ssize_t size = ::recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (size > 0 && handle(buffer, static_cast<std::size_t>(size))) continue;
    // Told too much too fast: the kernel dropped news, so ask for the state itself.
    if (size < 0 && errno == ENOBUFS && ask()) continue;
    break;
  }
  changed_ = changed_ || link_ != before;
  return link_ != before;
}

/// False only when the kernel says that there is no such interface.
bool LinkWatch::handle(const void* message, std::size_t size) {
  auto left = static_cast<unsigned>(size);
  for (auto* header = static_cast<const nlmsghdr*>(message); NLMSG_OK(header, left);
       header = NLMSG_NEXT(header, left)) {
    if (header->nlmsg_type == NLMSG_ERROR) {
      link_ = Link{};
      return false;
    }
    if (header->nlmsg_type != RTM_NEWLINK && header->nlmsg_type != RTM_DELLINK) continue;
    const auto* info = static_cast<const ifinfomsg*>(NLMSG_DATA(header));
    if (static_cast<std::uint32_t>(info->ifi_index) != link_.interface) continue;
    constexpr unsigned kUsable = IFF_UP | IFF_RUNNING | kLowerUp;
    link_.up = header->nlmsg_type == RTM_NEWLINK && (info->ifi_flags & kUsable) == kUsable;
    auto attributes = static_cast<unsigned>(IFLA_PAYLOAD(header));
    for (auto* a = IFLA_RTA(info); RTA_OK(a, attributes); a = RTA_NEXT(a, attributes)) {
      if (a->rta_type == IFLA_MTU) std::memcpy(&link_.mtu, RTA_DATA(a), sizeof link_.mtu);
      if (a->rta_type == IFLA_OPERSTATE) std::memcpy(&operational_state_, RTA_DATA(a), 1);
    }
    link_.bits_per_second = speed_of(socket_.get(), link_.interface);
  }
  return true;
}

bool LinkWatch::settled() const { return link_.up && operational_state_ == kOperationallyUp; }

// MRC-PORT-005: each change is told once.
std::optional<Link> LinkWatch::poll_event() {
  if (!changed_) return std::nullopt;
  changed_ = false;
  return link_;
}

Result<std::uint32_t> interface_of(const Address& local) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) < 0) return errno_error("list the interfaces");
  std::uint32_t found = 0;
  for (const ifaddrs* a = all; a != nullptr && found == 0; a = a->ifa_next) {
    if (a->ifa_addr == nullptr) continue;
    if (a->ifa_addr->sa_family != AF_INET && a->ifa_addr->sa_family != AF_INET6) continue;
    // The whole of 127.0.0.0/8 is this host's, although only one address of it is listed.
    const bool loopback = local.is_v4() && local.ip[12] == 127 && (a->ifa_flags & IFF_LOOPBACK) != 0;
    if (loopback || from_socket_address(*a->ifa_addr) == local) found = if_nametoindex(a->ifa_name);
  }
  ::freeifaddrs(all);
  if (found == 0) return Error{ENODEV, "no interface has the address " + to_string(local)};
  return found;
}

Result<std::uint32_t> interface_named(const std::string& name) {
  const unsigned index = if_nametoindex(name.c_str());
  if (index == 0) return Error{ENODEV, "no interface '" + name + "' in this network namespace"};
  return index;
}

}  // namespace mrc::port
