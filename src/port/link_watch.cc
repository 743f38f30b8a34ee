#include "port/link_watch.h"

#include <ifaddrs.h>
#include <linux/ethtool.h>
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
  auto socket = netlink::open(RTMGRP_LINK);
  if (!socket) return socket.error();
  LinkWatch watch(std::move(*socket), interface);
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
    rtattr name_head;
    char name[IFNAMSIZ];
  } request{};
  const std::size_t name_room = gone_ ? sizeof request.name_head + sizeof request.name : 0;
  request.header.nlmsg_len = static_cast<std::uint32_t>(NLMSG_LENGTH(sizeof request.body) + name_room);
  request.header.nlmsg_type = RTM_GETLINK;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.body.ifi_index = gone_ ? 0 : static_cast<int>(link_.interface);
  request.name_head = {RTA_LENGTH(sizeof request.name), IFLA_IFNAME};
  name_.copy(request.name, sizeof request.name - 1);
  if (::send(socket_.get(), &request, request.header.nlmsg_len, 0) < 0)
    return errno_error("ask for the link's state");
  return Done{};
}

bool LinkWatch::await_first_answer() {
  pollfd ready{socket_.get(), POLLIN, 0};
  while (link_.mtu == 0) {
    if (::poll(&ready, 1, kAnswerTimeoutMs) <= 0) return false;
    update();
    if (gone_) return false;
  }
  return true;
}

bool LinkWatch::update() {
  const Link before = link_;
  alignas(nlmsghdr) std::byte room[16384];
  for (;;) {
    const ssize_t size = ::recv(socket_.get(), room, sizeof room, MSG_DONTWAIT);
    // Told too much too fast: the kernel dropped news, so ask for the state itself.
    if (size < 0 && (errno != ENOBUFS || !ask())) break;
    if (size > 0) handle({room, static_cast<std::size_t>(size)});
  }
  changed_ = changed_ || link_ != before;
  return link_ != before;
}

void LinkWatch::handle(std::span<const std::byte> messages) {
  netlink::for_each_message(messages, [&](const nlmsghdr& message) {
    if (message.nlmsg_type == NLMSG_ERROR) lose();  // what we asked for isn't there
    if (message.nlmsg_type == RTM_NEWLINK || message.nlmsg_type == RTM_DELLINK) take(message);
  });
}

void LinkWatch::lose() {
  gone_ = true;
  link_.up = false;
}

// MRC-PORT-012
void LinkWatch::take(const nlmsghdr& message) {
  const auto* info = static_cast<const ifinfomsg*>(NLMSG_DATA(&message));
  if (info->ifi_family != AF_UNSPEC) return;  // a bridge's word about one of its ports
  Link now = link_;
  std::string name = name_;
  std::uint8_t state = operational_state_;
  now.interface = static_cast<std::uint32_t>(info->ifi_index);
  netlink::for_each_attribute<ifinfomsg>(message, [&](unsigned short type, std::span<const std::byte> value) {
    if (type == IFLA_IFNAME) name = reinterpret_cast<const char*>(value.data());
    if (type == IFLA_MTU && value.size() == sizeof now.mtu) std::memcpy(&now.mtu, value.data(), value.size());
    if (type == IFLA_OPERSTATE) std::memcpy(&state, value.data(), 1);
  });
  if (gone_ ? name != name_ : now.interface != link_.interface) return;
  if (message.nlmsg_type == RTM_DELLINK) return lose();
  constexpr unsigned kUsable = IFF_UP | IFF_RUNNING | kLowerUp;
  now.up = (info->ifi_flags & kUsable) == kUsable;
  now.bits_per_second = speed_of(socket_.get(), now.interface);
  link_ = now;
  name_ = name;
  operational_state_ = state;
  gone_ = false;
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
