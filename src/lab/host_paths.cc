#include "lab/host_paths.h"

#include <algorithm>

#include "lab/wiring.h"

namespace mrc::lab {
namespace {

using topo::Choice;
using topo::HostId;
using topo::Plane;
using topo::Topology;

/// Ways of a plane in one row: uplink 0, then uplink 1 within it.
Choice way(const Topology& topo, Plane plane, std::uint32_t number) {
  const std::uint32_t second = std::max(topo.spec().t2, 1u);
  return {plane, number / second, number % second};
}

void add_route(Messages& out, const Topology& topo, HostId from, HostId to, Plane plane,
               std::uint32_t number) {
  const auto carriers = topo.carriers(topo.usids(topo.path(from, to, way(topo, plane, number))));
  if (carriers.count != 1) return;  // beyond one carrier a route needs an SRH: left to full frames
  add_encapsulation(out, kFirstPathTable + number, topo.address(to, plane), carriers.addresses[0],
                    interface_index(plane));
}

}  // namespace

void add_path_routes(Messages& out, const Topology& topo, HostId host, const std::set<std::uint32_t>& down) {
  for (std::uint32_t to = 0; to < topo.hosts(); ++to) {
    if (HostId(to) == host) continue;
    for (Plane plane = 0; plane < topo.planes(); ++plane) {
      if (down.contains(plane)) continue;
      for (std::uint32_t number = 0; number < topo.evs_per_plane(); ++number)
        add_route(out, topo, host, HostId(to), plane, number);
    }
  }
}

std::optional<Choice> way_of_source_port(const Topology& topo, const AutoEvs& evs, std::uint16_t port) {
  const std::uint32_t ways = topo.evs_per_plane(), spread = evs.ports_per_plane;
  for (Plane plane = 0; plane < topo.planes(); ++plane) {
    for (std::uint32_t number = 0; number < ways; ++number) {
      if (static_cast<std::uint16_t>(topo.ev(way(topo, plane, number)).value) == port)
        return way(topo, plane, number);
    }
  }
  if (port < evs.first_source_port) return {};
  const std::uint32_t offset = port - evs.first_source_port, plane = offset / spread;
  if (plane >= topo.planes()) return {};
  const std::uint32_t groups = std::min(ways, spread);
  // The last group that begins at or before it.
  std::uint32_t group = groups - 1;
  while (group * spread / groups > offset % spread) --group;
  return way(topo, static_cast<Plane>(plane), group * ways / groups);
}

void add_path_rules(Messages& out, const Topology& topo, const AutoEvs& evs) {
  const std::uint32_t ways = topo.evs_per_plane(), spread = evs.ports_per_plane;
  for (Plane plane = 0; plane < topo.planes(); ++plane) {
    for (std::uint32_t number = 0; number < ways; ++number) {
      const auto port = static_cast<std::uint16_t>(topo.ev(way(topo, plane, number)).value);
      add_source_port_rule(out, {port, port}, kFirstPathTable + number, kPathRulePriority);
    }
    const std::uint32_t base = evs.first_source_port + plane * spread;
    for (std::uint32_t i = 0; i < std::min(ways, spread); ++i) {
      const std::uint32_t groups = std::min(ways, spread);
      const PortSpan ports{static_cast<std::uint16_t>(base + i * spread / groups),
                           static_cast<std::uint16_t>(base + (i + 1) * spread / groups - 1)};
      add_source_port_rule(out, ports, kFirstPathTable + i * ways / groups, kPathRulePriority);
    }
  }
}

}  // namespace mrc::lab
