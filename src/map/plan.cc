#include "map/plan.h"

#include <algorithm>

namespace mrc::map {
namespace {

using topo::Tier;
using topo::Topology;

/// Of `members`, number `mine` takes thing `thing`: `coverage` neighbours in a ring do.
bool takes(std::uint32_t thing, std::uint32_t mine, std::uint32_t members, std::uint32_t coverage) {
  return (mine + members - thing % members) % members < coverage;
}

std::uint32_t hosts_among(const Topology& topo, std::uint32_t first_t0, std::uint32_t count) {
  const std::uint32_t per = topo.spec().hosts_per_t0, first = first_t0 * per;
  return std::min(count * per, topo.hosts() - std::min(first, topo.hosts()));
}

ProbeName round_trip(Tier tier, Plane plane, std::uint32_t uplink0, std::uint32_t uplink1) {
  ProbeName n;
  n.tier = tier;
  n.plane = static_cast<std::uint8_t>(plane);
  n.uplink0 = static_cast<std::uint16_t>(uplink0);
  n.uplink1 = static_cast<std::uint16_t>(uplink1);
  return n;
}

/// Links above the host's T0, then those above the T1s of its pod, with the T1 on the way.
void add_share(const Topology& topo, HostId host, Plane plane, std::uint32_t coverage,
               std::vector<ProbeName>& out) {
  const topo::Spec& s = topo.spec();
  const std::uint32_t t0 = topo.t0_of(host), first_t0 = topo.pod_of_t0(t0) * s.t0;
  const std::uint32_t near = hosts_among(topo, t0, 1), in_pod = hosts_among(topo, first_t0, s.t0);
  for (std::uint32_t u0 = 0; topo.tiers() >= 2 && u0 < s.t1; ++u0) {
    bool wanted = takes(u0, topo.downlink_of(host), near, coverage);
    std::vector<ProbeName> above;
    for (std::uint32_t u1 = 0; topo.tiers() == 3 && u1 < s.t2; ++u1) {
      if (takes(u0 * s.t2 + u1, host.value - first_t0 * s.hosts_per_t0, in_pod, coverage))
        above.push_back(round_trip(Tier::t2, plane, u0, u1));
    }
    if (wanted || !above.empty()) out.push_back(round_trip(Tier::t1, plane, u0, 0));
    out.insert(out.end(), above.begin(), above.end());
  }
}

/// The next T0 of the pod, through a T1 that differs from host to host.
void add_visit(const Topology& topo, HostId host, Plane plane, std::vector<ProbeName>& out) {
  const topo::Spec& s = topo.spec();
  if (topo.tiers() < 2 || s.t0 < 2) return;
  const std::uint32_t t0 = topo.t0_of(host), pod = topo.pod_of_t0(t0);
  ProbeName n = round_trip(Tier::t1, plane, topo.downlink_of(host) % s.t1, 0);
  n.shape = Shape::visit;
  n.other = pod * s.t0 + (t0 + 1 - pod * s.t0) % s.t0;
  out.push_back(n);
}

/// The same T0 by other ways: is it the T0, or the way?
void add_visits(const Topology& topo, HostId host, ProbeName n, std::uint32_t count,
                std::vector<ProbeName>& out) {
  const std::uint32_t uplinks = topo.spec().t1, first = n.uplink0;
  for (std::uint32_t i = 1; i < uplinks && i <= count; ++i) {
    n.uplink0 = static_cast<std::uint16_t>((first + i) % uplinks);
    if (itinerary(topo, host, n)) out.push_back(n);
  }
}

// MRC-FAB-033: with the help of a host under the same T0 a probe crosses our own link one way only.
void add_relays(const Topology& topo, HostId host, ProbeName n, Plane other_plane,
                std::vector<ProbeName>& out) {
  const std::uint32_t near = hosts_among(topo, topo.t0_of(host), 1);
  if (near < 2 || other_plane == n.plane) return;
  n.other = host.value - topo.downlink_of(host) + (topo.downlink_of(host) + 1) % near;
  n.other_plane = static_cast<std::uint8_t>(other_plane);
  for (const Shape shape : {Shape::relay_out, Shape::relay_back, Shape::relay_check, Shape::relay_proxy}) {
    n.shape = shape;
    out.push_back(n);
  }
}

}  // namespace

// MRC-FAB-030: together the nodes cover every link, and no other host has to be up for it.
std::vector<ProbeName> regular_probes(const Topology& topo, HostId host, const Settings& settings) {
  std::vector<ProbeName> out;
  for (Plane plane = 0; plane < topo.planes(); ++plane) {
    out.push_back(round_trip(Tier::t0, plane, 0, 0));
    add_share(topo, host, plane, settings.coverage, out);
    if (settings.outside_witness) add_visit(topo, host, plane, out);
  }
  return out;
}

std::optional<ProbeName> below(const ProbeName& name) {
  if (name.tier == Tier::t2) return round_trip(Tier::t1, name.plane, name.uplink0, 0);
  if (name.tier == Tier::t1) return round_trip(Tier::t0, name.plane, 0, 0);
  return std::nullopt;
}

std::vector<ProbeName> close_look(const Topology& topo, HostId host, const ProbeName& suspect,
                                  std::uint32_t detour_uplink, Plane other_plane, const Settings& settings) {
  std::vector<ProbeName> out;
  if (suspect.tier == Tier::t0) return add_relays(topo, host, suspect, other_plane, out), out;
  const topo::Spec& s = topo.spec();
  const bool low = suspect.tier == Tier::t1;
  const std::uint32_t t0 = topo.t0_of(host), pod = topo.pod_of_t0(t0);
  const std::uint32_t mine = low ? t0 - pod * s.t0 : pod, members = low ? s.t0 : s.pods;
  ProbeName n = suspect;
  if (n.shape == Shape::visit) return add_visits(topo, host, n, settings.detours, out), out;
  n.other_uplink = static_cast<std::uint16_t>(detour_uplink);
  for (std::uint32_t i = 1; i < members && i <= settings.detours; ++i) {
    n.other = (low ? pod * s.t0 : 0) + (mine + i) % members;
    for (const Shape shape : {Shape::loop_up, Shape::loop_down, Shape::detour}) {
      n.shape = shape;
      if (itinerary(topo, host, n)) out.push_back(n);
    }
  }
  return out;
}

}  // namespace mrc::map
