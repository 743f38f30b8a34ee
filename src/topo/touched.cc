// Which EVs a cable or a switch touches. A Clos makes the answer a product: a plane, and one uplink or all of
// them.
#include "topo/topo.h"

namespace mrc::topo {

EvSet Topology::evs_through(LinkId l) const {
  const Plane p = plane(l);
  const Ends e = ends(l);
  switch (kind(l)) {
    case LinkKind::host_t0: return EvSet::of_plane(p);
    case LinkKind::t0_t1: return EvSet::of_uplink(p, e.lower.port - spec_.hosts_per_t0);
    case LinkKind::t1_t2: return EvSet::of_uplinks(p, e.lower.node.index % spec_.t1, e.lower.port - spec_.t0);
  }
  return EvSet::none();
}

EvSet Topology::evs_through(Node n) const {
  switch (n.tier) {
    case Tier::host: return EvSet::none();
    case Tier::t0: return EvSet::of_plane(n.plane);
    case Tier::t1: return EvSet::of_uplink(n.plane, n.index % spec_.t1);
    case Tier::t2: return EvSet::of_uplinks(n.plane, n.index / spec_.t2, n.index % spec_.t2);
  }
  return EvSet::none();
}

// MRC-FAB-003: of these two hosts: only what their paths can cross.
EvSet Topology::evs_through(LinkId l, HostId source, HostId destination) const {
  const std::uint32_t from = t0_of(source), to = t0_of(destination);
  const std::uint32_t lower = ends(l).lower.node.index;
  bool touched = false;
  switch (kind(l)) {
    case LinkKind::host_t0: touched = lower == source.value || lower == destination.value; break;
    case LinkKind::t0_t1: touched = from != to && (lower == from || lower == to); break;
    case LinkKind::t1_t2: {
      const std::uint32_t pod = lower / spec_.t1, from_pod = pod_of_t0(from), to_pod = pod_of_t0(to);
      touched = from_pod != to_pod && (pod == from_pod || pod == to_pod);
    }
  }
  return touched ? evs_through(l) : EvSet::none();
}

EvSet Topology::evs_through(Node n, HostId source, HostId destination) const {
  const std::uint32_t from = t0_of(source), to = t0_of(destination);
  const std::uint32_t from_pod = pod_of_t0(from), to_pod = pod_of_t0(to);
  bool touched = false;
  switch (n.tier) {
    case Tier::host: break;
    case Tier::t0: touched = n.index == from || n.index == to; break;
    case Tier::t1:
      touched = from != to && (n.index / spec_.t1 == from_pod || n.index / spec_.t1 == to_pod);
      break;
    case Tier::t2: touched = from_pod != to_pod; break;
  }
  return touched ? evs_through(n) : EvSet::none();
}

}  // namespace mrc::topo
