#include "lib/address_watch.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace mrc::lib {
namespace {

/// An IPv6 address can't be used before the kernel knows that nobody else has it.
bool is_usable(const ifaddrmsg& info) {
  if ((info.ifa_flags & IFA_F_DADFAILED) != 0) return false;
  return (info.ifa_flags & IFA_F_TENTATIVE) == 0 || (info.ifa_flags & IFA_F_OPTIMISTIC) != 0;
}

/// The address of a message, or nothing known when it has none.
bool read_address(const nlmsghdr& header, AddressChange& out) {
  const auto* info = static_cast<const ifaddrmsg*>(NLMSG_DATA(&header));
  out.interface = info->ifa_index;
  out.usable = header.nlmsg_type == RTM_NEWADDR && is_usable(*info);
  bool found = false;
  auto left = static_cast<unsigned>(IFA_PAYLOAD(&header));
  for (auto* a = IFA_RTA(info); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
    // IPv4 has both, and on a point-to-point link only IFA_LOCAL is ours; IPv6 has IFA_ADDRESS alone.
    if (a->rta_type != IFA_LOCAL && (a->rta_type != IFA_ADDRESS || found)) continue;
    if (info->ifa_family == AF_INET && RTA_PAYLOAD(a) >= 4) {
      out.address = {};
      out.address[10] = out.address[11] = 0xFF;
      std::memcpy(out.address.data() + 12, RTA_DATA(a), 4);
    } else if (info->ifa_family == AF_INET6 && RTA_PAYLOAD(a) >= 16) {
      std::memcpy(out.address.data(), RTA_DATA(a), 16);
    } else {
      continue;
    }
    found = true;
  }
  return found;
}

}  // namespace

Result<AddressWatch> AddressWatch::open() {
  port::Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  if (!socket) return Error{errno, "cannot open a netlink socket"};
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) < 0)
    return Error{errno, "cannot listen to address changes"};
  return AddressWatch(std::move(socket));
}

bool AddressWatch::read(std::vector<AddressChange>& out) {
  alignas(nlmsghdr) char buffer[16384];
  bool complete = true;
  for (;;) {
    const ssize_t size = ::recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (size < 0 && errno == ENOBUFS) {
      complete = false;
      continue;
    }
    if (size <= 0) return complete;
    auto left = static_cast<unsigned>(size);
    for (auto* header = reinterpret_cast<const nlmsghdr*>(buffer); NLMSG_OK(header, left);
         header = NLMSG_NEXT(header, left)) {
      if (header->nlmsg_type != RTM_NEWADDR && header->nlmsg_type != RTM_DELADDR) continue;
      AddressChange change;
      if (read_address(*header, change)) out.push_back(change);
    }
  }
}

}  // namespace mrc::lib
