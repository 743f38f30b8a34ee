#include "topo/node_config.h"

#include <algorithm>

#include "topo/routes.h"

namespace mrc::topo {
namespace {

NextHop next_hop(const Topology& topo, Attachment from) {
  return {topo.link_local(topo.peer(from)->node), topo.port_name(from)};
}

/// All NIC addresses of one plane.
Ipv6Prefix plane_prefix(const Topology& topo, Plane p) { return {topo.subnet(p, 0).address, 48}; }

InterfaceConfig interface_config(const Topology& topo, Attachment a, const Attachment& peer) {
  InterfaceConfig out;
  out.name = topo.port_name(a);
  out.port = a.port;
  out.mac = topo.mac(a);
  out.link_local = topo.link_local(a.node);
  // Alone in its prefix: neighbours under the same T0 are reached through it, not asked for on the cable.
  if (a.node.tier == Tier::host) out.addresses.push_back({topo.address(HostId(a.node.index), a.port), 128});
  out.bits_per_second = topo.link_spec(*topo.link_at(a)).bits_per_second;
  out.peer = topo.name(peer.node);
  out.peer_link_local = topo.link_local(peer.node);
  out.peer_mac = topo.mac(peer);
  out.toward_host = peer.node.tier == Tier::host;
  return out;
}

void add_host_routes(const Topology& topo, Node n, NodeConfig& out) {
  const HostId h(n.index);
  for (Plane p = 0; p < topo.planes(); ++p) {
    const Attachment port{n, p};
    const std::string name = topo.port_name(port);
    out.sids.push_back({topo.sid(h, p), SidBehavior::decapsulate, name});
    out.sid_routes.push_back({topo.sid(topo.peer(port)->node), {next_hop(topo, port)}});
    out.plain_routes.push_back({plane_prefix(topo, p), {next_hop(topo, port)}});
  }
}

/// What lies below a port of a switch, by NIC address.
Ipv6Prefix plain_prefix_below(const Topology& topo, Node sw, std::uint32_t port, std::uint32_t t0) {
  if (sw.tier == Tier::t0) return {topo.address(HostId(topo.peer({sw, port})->node.index), sw.plane), 128};
  return topo.subnet(sw.plane, t0);
}

void add_plain_routes(const Topology& topo, Node sw, NodeConfig& out) {
  const std::uint32_t down = topo.downlinks(sw), t0_per_pod = topo.spec().t0;
  for (std::uint32_t port = 0; port < down; ++port) {
    if (!topo.link_at({sw, port})) continue;
    const std::uint32_t first =
        sw.tier == Tier::t2 ? port * t0_per_pod : sw.index / std::max(topo.spec().t1, 1u) * t0_per_pod + port;
    const std::uint32_t count = sw.tier == Tier::t2 ? t0_per_pod : 1;
    for (std::uint32_t t0 = first; t0 < first + count; ++t0) {
      out.plain_routes.push_back({plain_prefix_below(topo, sw, port, t0), {next_hop(topo, {sw, port})}});
    }
  }
  StaticRoute up{plane_prefix(topo, sw.plane), {}};
  for (std::uint32_t port = down; port < topo.ports(sw); ++port)
    up.next_hops.push_back(next_hop(topo, {sw, port}));
  if (!up.next_hops.empty()) out.plain_routes.push_back(up);
}

void add_switch_routes(const Topology& topo, Node sw, NodeConfig& out) {
  if (out.interfaces.empty()) return;  // a T0 without hosts and uplinks forwards nothing
  out.sids.push_back({topo.sid(sw), SidBehavior::un, out.interfaces.front().name});
  for (const Route& r : usid_route_list(topo, sw))
    out.sid_routes.push_back({r.prefix, {next_hop(topo, {sw, r.port})}});
  add_plain_routes(topo, sw, out);
}

}  // namespace

NodeConfig node_config(const Topology& topo, Node n) {
  NodeConfig out;
  out.node = n;
  out.name = topo.name(n);
  out.locator_bits = topo.spec().locator.length;
  for (std::uint32_t port = 0; port < topo.ports(n); ++port) {
    if (const auto peer = topo.peer({n, port}))
      out.interfaces.push_back(interface_config(topo, {n, port}, *peer));
  }
  if (n.tier == Tier::host) {
    add_host_routes(topo, n, out);
  } else {
    add_switch_routes(topo, n, out);
  }
  return out;
}

}  // namespace mrc::topo
