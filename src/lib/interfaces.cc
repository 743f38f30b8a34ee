// Reads the machine's network interfaces and the one that its default route leaves by.
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

#include "lib/discovery.h"

namespace mrc::lib {
namespace {

Interface& interface_named(std::vector<Interface>& all, const char* name) {
  for (auto& known : all) {
    if (known.name == name) return known;
  }
  Interface added;
  added.name = name;
  added.index = if_nametoindex(name);
  return all.emplace_back(std::move(added));
}

Gid mapped(const in_addr& v4) {
  Gid gid{};
  gid[10] = gid[11] = 0xff;
  std::memcpy(gid.data() + 12, &v4, 4);
  return gid;
}

void note_address(Interface& interface, const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    interface.addresses.push_back(mapped(reinterpret_cast<const sockaddr_in&>(address).sin_addr));
  } else if (address.sa_family == AF_INET6) {
    Gid gid;
    std::memcpy(gid.data(), &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, 16);
    interface.addresses.push_back(gid);
  } else if (address.sa_family == AF_PACKET) {
    const auto& link = reinterpret_cast<const sockaddr_ll&>(address);
    if (link.sll_halen == 6) std::copy_n(link.sll_addr, 6, interface.mac.begin());
  }
}

int rank(const Gid& gid) {
  if (gid[10] == 0xff && gid[11] == 0xff && gid[0] == 0) return 0;  // IPv4
  return is_link_local(gid) ? 2 : 1;
}

}  // namespace

bool is_link_local(const Gid& gid) { return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80; }

bool is_v4(const Gid& gid) {
  static constexpr std::uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(std::begin(kMapped), std::end(kMapped), gid.begin());
}

Result<std::vector<Interface>> read_interfaces() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return Error{errno, "cannot read the network interfaces (getifaddrs)"};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  std::vector<Interface> all;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    Interface& interface = interface_named(all, one->ifa_name);
    interface.loopback = (one->ifa_flags & IFF_LOOPBACK) != 0;
    interface.up = (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_RUNNING) != 0;
    if (one->ifa_addr != nullptr) note_address(interface, *one->ifa_addr);
  }
  for (auto& interface : all) {
    std::stable_sort(interface.addresses.begin(), interface.addresses.end(),
                     [](const Gid& a, const Gid& b) { return rank(a) < rank(b); });
  }
  return all;
}

std::string default_route_interface() {
  std::ifstream v4("/proc/net/route");
  std::string line, name, destination;
  std::getline(v4, line);  // the heading
  while (std::getline(v4, line)) {
    if (std::istringstream(line) >> name >> destination && destination == "00000000") return name;
  }
  // A line: destination, its prefix length, source, its prefix length, next hop, metric, refs, uses, flags,
  // interface.
  std::ifstream v6("/proc/net/ipv6_route");
  while (std::getline(v6, line)) {
    std::istringstream words(line);
    std::string length, skip;
    words >> destination >> length;
    for (int i = 0; i < 7; ++i) words >> skip;
    if (words >> name && length == "00" && name != "lo") return name;
  }
  return {};
}

}  // namespace mrc::lib
