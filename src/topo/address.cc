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

Ipv6 Topology::link_local(Node n) const {
  Ipv6 a;
  a.set_group(0, 0xFE80);
  a.set_group(5, static_cast<std::uint16_t>((static_cast<int>(n.tier) + 1) << 8 | n.plane));
  a.set_group(6, static_cast<std::uint16_t>(n.index >> 16));
  a.set_group(7, static_cast<std::uint16_t>(n.index));
  return a;
}

Mac Topology::mac(Attachment a) const {
  // 02 | tier and plane | for a host: index, 24 bits, and port | for a switch: index and port, 16 bits each
  const std::uint32_t i = a.node.index, port = a.port;
  const bool host = a.node.tier == Tier::host;
  const std::uint32_t low = host ? i << 8 | port : i << 16 | port;
  Mac m{0x02, static_cast<std::uint8_t>(static_cast<int>(a.node.tier) << 5 | a.node.plane)};
  for (int byte = 0; byte < 4; ++byte) m[2 + byte] = static_cast<std::uint8_t>(low >> (24 - 8 * byte));
  return m;
}

std::optional<Topology::NicPort> Topology::host_at(const Ipv6& a) const {
  const Plane p = a.group(kPlaneGroup);
  const std::uint32_t number = a.group(kHostGroup);
  if (p >= planes() || number == 0) return std::nullopt;
  const auto host = host_under(a.group(kT0Group), number - 1);
  if (!host || address(*host, p) != a) return std::nullopt;
  return NicPort{*host, p};
}

}  // namespace mrc::topo
