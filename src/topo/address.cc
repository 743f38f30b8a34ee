// Addresses by structure: prefix:plane:t0::downlink+1 for NIC ports, locator:uSID:: for segment ids.
#include "topo/topo.h"

namespace mrc::topo {
namespace {

constexpr int kPlaneGroup = 2;
constexpr int kT0Group = 3;
constexpr int kHostGroup = 7;

Ipv6Prefix sid_of(const Ipv6Prefix& locator, Usid u) {
  Ipv6Prefix sid = locator;
  sid.address.set_group(locator.length / 16, u.value);
  sid.length += 16;
  return sid;
}

}  // namespace

Ipv6Prefix Topology::subnet(Plane p, std::uint32_t t0) const {
  Ipv6 a = spec_.host_prefix.address;
  a.set_group(kPlaneGroup, static_cast<std::uint16_t>(p));
  a.set_group(kT0Group, static_cast<std::uint16_t>(t0));
  return {a, 64};
}

Ipv6 Topology::address(HostId h, Plane p) const {
  Ipv6 a = subnet(p, t0_of(h)).address;
  a.set_group(kHostGroup,
              static_cast<std::uint16_t>(downlink_of(h) + 1));  // ::0 is the subnet's anycast address
  return a;
}

Ipv6Prefix Topology::sid(Node n) const { return sid_of(spec_.locator, usid(n)); }
Ipv6Prefix Topology::sid(HostId h, Plane p) const { return sid_of(spec_.locator, usid(h, p)); }

std::optional<Topology::NicPort> Topology::host_at(const Ipv6& a) const {
  const Plane p = a.group(kPlaneGroup);
  const std::uint32_t number = a.group(kHostGroup);
  if (p >= planes() || number == 0) return std::nullopt;
  const auto host = host_under(a.group(kT0Group), number - 1);
  if (!host || address(*host, p) != a) return std::nullopt;
  return NicPort{*host, p};
}

}  // namespace mrc::topo
