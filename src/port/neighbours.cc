#include "port/neighbours.h"

#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>

#include "port/no_cancel.h"

namespace mrc::port {
namespace {

constexpr std::uint16_t kDiscardPort = 9;
constexpr std::uint32_t kNews = RTMGRP_NEIGH | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE | RTMGRP_IPV4_IFADDR |
                                RTMGRP_IPV6_IFADDR | RTMGRP_LINK;

/// Which way to an address; by which interface, where one is wanted.
struct RouteQuestion {
  nlmsghdr header{};
  rtmsg body{};
  std::byte attributes[RTA_SPACE(16) + RTA_SPACE(4)] = {};

  RouteQuestion(const Address& to, std::uint32_t interface) {
    const auto destination = netlink::bytes_of(to);
    header.nlmsg_type = RTM_GETROUTE;
    header.nlmsg_flags = NLM_F_REQUEST;
    header.nlmsg_len = NLMSG_LENGTH(sizeof body);
    body.rtm_family = to.is_v4() ? AF_INET : AF_INET6;
    body.rtm_dst_len = static_cast<unsigned char>(8 * destination.size());
    add(RTA_DST, destination);
    if (interface != 0) add(RTA_OIF, std::as_bytes(std::span(&interface, 1)));
  }
  void add(unsigned short type, std::span<const std::byte> value) {
    const rtattr head{static_cast<unsigned short>(RTA_LENGTH(value.size())), type};
    std::byte* at = attributes + header.nlmsg_len - NLMSG_LENGTH(sizeof body);
    std::memcpy(at, &head, sizeof head);
    std::memcpy(at + RTA_LENGTH(0), value.data(), value.size());
    header.nlmsg_len += static_cast<std::uint32_t>(RTA_SPACE(value.size()));
  }
  std::span<const std::byte> bytes() const {
    return std::as_bytes(std::span(this, 1)).first(header.nlmsg_len);
  }
};

}  // namespace

Result<Neighbours> Neighbours::open(std::uint32_t interface, bool v4) {
  if (const auto mac = mac_of(interface); !mac) return mac.error();  // it isn't Ethernet
  auto events = netlink::open(kNews);
  if (!events) return events.error();
  auto questions = netlink::open(0);
  if (!questions) return questions.error();
  Fd knocking(::socket(v4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!knocking) return errno_error("open a UDP socket");
  Neighbours made(interface, std::move(*events), std::move(*questions), std::move(knocking));
  made.move_to(interface);
  return made;
}

void Neighbours::move_to(std::uint32_t interface) {
  interface_ = interface;
  table_ = NeighbourTable(interface);
  table_.load(questions_.get());
  known_.clear();
  ask_own_mac();
  const int index = static_cast<int>(interface);
  ::setsockopt(knocking_.get(), SOL_SOCKET, SO_BINDTOIFINDEX, &index, sizeof index);
}

void Neighbours::ask_own_mac() {
  struct {
    nlmsghdr header;
    ifinfomsg body;
  } question{};
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = RTM_GETLINK;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.body.ifi_index = static_cast<int>(interface_);
  alignas(nlmsghdr) std::byte room[16384];
  const auto answer = netlink::ask(questions_.get(), std::as_bytes(std::span(&question, 1)), room);
  netlink::for_each_message(answer, [&](const nlmsghdr& message) {
    if (message.nlmsg_type == RTM_NEWLINK) note_own_mac(message);
  });
}

bool Neighbours::update() {
  const NoCancel whole;
  alignas(nlmsghdr) std::byte room[16384];
  bool changed = false;
  for (;;) {
    const ssize_t size = ::recv(events_.get(), room, sizeof room, MSG_DONTWAIT);
    if (size < 0 && errno == ENOBUFS) {  // told too much too fast: the kernel dropped news
      table_.load(questions_.get());
      known_.clear();
      changed = true;
    } else if (size < 0) {
      return changed;
    }
    if (size > 0)
      netlink::for_each_message({room, static_cast<std::size_t>(size)},
                                [&](const nlmsghdr& message) { changed |= handle(message); });
  }
}

/// A neighbour's news is about those who go by it, other news about everybody.
bool Neighbours::handle(const nlmsghdr& message) {
  if (message.nlmsg_type == RTM_NEWNEIGH || message.nlmsg_type == RTM_DELNEIGH) {
    const auto who = table_.handle(message);
    if (!who) return false;
    for (auto& [to, known] : known_)
      if (known.hop && known.hop->ip == who->bytes) known.current = false;
    return true;
  }
  if ((message.nlmsg_type == RTM_NEWLINK || message.nlmsg_type == RTM_DELLINK) && !note_own_mac(message))
    return false;
  known_.clear();
  return true;
}

/// False when the message is about another interface.
bool Neighbours::note_own_mac(const nlmsghdr& message) {
  const auto* about = static_cast<const ifinfomsg*>(NLMSG_DATA(&message));
  if (static_cast<std::uint32_t>(about->ifi_index) != interface_) return false;
  netlink::for_each_attribute<ifinfomsg>(message, [&](unsigned short type, std::span<const std::byte> value) {
    if (type == IFLA_ADDRESS && value.size() == own_mac_.bytes.size())
      std::memcpy(own_mac_.bytes.data(), value.data(), value.size());
  });
  return true;
}

NextHop Neighbours::find(const Address& to) {
  const wire::IpAddress key{to.ip};
  auto known = known_.find(key);
  if (known != known_.end() && known->second.current) return known->second.next;
  const NoCancel whole;
  if (known == known_.end()) {
    if (known_.size() >= kMaxRemembered) known_.clear();
    known = known_.emplace(key, Known{.hop = route(to), .next = {}}).first;
  }
  known->second.next = known->second.hop ? reach(*known->second.hop) : NextHop{EHOSTUNREACH, {}};
  known->second.current = true;
  return known->second.next;
}

/// The kernel looks for a neighbour, and after one that it has not heard of for long, when it has something
/// to send there. Ours it does not see.
NextHop Neighbours::reach(const Address& hop) const {
  const Neighbour* neighbour = table_.find({hop.ip});
  const bool asked = neighbour != nullptr && neighbour->mac && !neighbour->old ? true : provoke(hop);
  if (neighbour == nullptr) return {asked ? EAGAIN : EHOSTUNREACH, {}};
  if (!neighbour->mac) return {EHOSTUNREACH, {}};
  return {0, *neighbour->mac};
}

/// Of two interfaces in one network the kernel would take the first; ours is asked for where that is so.
std::optional<Address> Neighbours::route(const Address& to) const {
  std::uint32_t by = 0;
  auto hop = route_by(to, 0, by);
  if (hop && by != interface_) hop = route_by(to, interface_, by);
  if (!hop || by != interface_) return std::nullopt;
  return hop;
}

std::optional<Address> Neighbours::route_by(const Address& to, std::uint32_t interface,
                                            std::uint32_t& by) const {
  const RouteQuestion question(to, interface);
  alignas(nlmsghdr) std::byte room[4096];
  std::optional<Address> hop;
  netlink::for_each_message(netlink::ask(questions_.get(), question.bytes(), room),
                            [&](const nlmsghdr& answer) {
                              if (answer.nlmsg_type != RTM_NEWROUTE) return;
                              hop = to;
                              netlink::for_each_attribute<rtmsg>(
                                  answer, [&](unsigned short type, std::span<const std::byte> value) {
                                    if (type == RTA_OIF && value.size() == sizeof by)
                                      std::memcpy(&by, value.data(), sizeof by);
                                    if (type == RTA_GATEWAY) hop = netlink::address_from(value);
                                  });
                            });
  return hop;
}

/// One byte to the discard port. False: the kernel has no way to send it, and so looks for nobody.
bool Neighbours::provoke(const Address& hop) const {
  Address scoped = hop;
  if (!hop.is_v4()) scoped.scope = interface_;
  const SocketAddress address = to_socket_address(scoped, kDiscardPort);
  return ::sendto(knocking_.get(), "", 1, MSG_DONTWAIT, &address.any, address.size) == 1;
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
