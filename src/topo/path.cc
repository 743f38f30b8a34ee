// EV <-> choice <-> path <-> hops.
#include "topo/topo.h"

namespace mrc::topo {

// MRC-FAB-002: an EV is a compressed path: plane, T0 uplink, T1 uplink.
Ev Topology::ev(const Choice& c) const {
  return ev_of_path_bits((c.plane << uplink0_bits_ | c.uplink0) << uplink1_bits_ | c.uplink1);
}

std::optional<Choice> Topology::choice(Ev ev) const {
  const auto bits = path_bits_of(ev);
  if (!bits || *bits >> path_bits() != 0) return std::nullopt;
  const std::uint32_t uplink1 = *bits & ((1u << uplink1_bits_) - 1);
  const std::uint32_t uplink0 = *bits >> uplink1_bits_ & ((1u << uplink0_bits_) - 1);
  const Choice c{*bits >> (uplink0_bits_ + uplink1_bits_), uplink0, uplink1};
  if (c.plane >= planes() || c.uplink0 >= uplink0_count_ || c.uplink1 >= uplink1_count_) return std::nullopt;
  return c;
}

Ev Topology::ev_at(std::uint32_t number) const {
  const std::uint32_t within = number % evs_per_plane();
  return ev({number / evs_per_plane(), within / uplink1_count_, within % uplink1_count_});
}

std::uint32_t Topology::ways_per_plane(HostId source, HostId destination) const {
  const std::uint32_t from = t0_of(source), to = t0_of(destination);
  if (from == to) return 1;
  return pod_of_t0(from) == pod_of_t0(to) ? uplink0_count_ : evs_per_plane();
}

// MRC-FAB-004: every switch and link of a path lies in the plane of its EV.
Path Topology::path_within_t0(Path p) const {
  p.choice.uplink0 = p.choice.uplink1 = 0;
  p.switch_count = 1;
  p.switches[0] = switch_node(p.choice.plane, Tier::t0, t0_of(p.source));
  p.hops[0] = {host_link(p.source, p.choice.plane), Direction::up};
  p.hops[1] = {host_link(p.destination, p.choice.plane), Direction::down};
  return p;
}

Path Topology::path_within_pod(Path p) const {
  const Plane plane = p.choice.plane;
  const std::uint32_t from = t0_of(p.source), to = t0_of(p.destination), uplink0 = p.choice.uplink0;
  p.choice.uplink1 = 0;
  p.switch_count = 3;
  p.switches[0] = switch_node(plane, Tier::t0, from);
  p.switches[1] = switch_node(plane, Tier::t1, pod_of_t0(from) * spec_.t1 + uplink0);
  p.switches[2] = switch_node(plane, Tier::t0, to);
  p.hops[0] = {host_link(p.source, plane), Direction::up};
  p.hops[1] = {t0_t1_link(plane, from, uplink0), Direction::up};
  p.hops[2] = {t0_t1_link(plane, to, uplink0), Direction::down};
  p.hops[3] = {host_link(p.destination, plane), Direction::down};
  return p;
}

Path Topology::path_across_pods(Path p) const {
  const auto& [plane, uplink0, uplink1] = p.choice;
  const std::uint32_t from = t0_of(p.source), to = t0_of(p.destination);
  const std::uint32_t t1_up = pod_of_t0(from) * spec_.t1 + uplink0,
                      t1_down = pod_of_t0(to) * spec_.t1 + uplink0;
  p.switch_count = 5;
  p.switches[0] = switch_node(plane, Tier::t0, from);
  p.switches[1] = switch_node(plane, Tier::t1, t1_up);
  p.switches[2] = switch_node(plane, Tier::t2, uplink0 * spec_.t2 + uplink1);
  p.switches[3] = switch_node(plane, Tier::t1, t1_down);
  p.switches[4] = switch_node(plane, Tier::t0, to);
  p.hops[0] = {host_link(p.source, plane), Direction::up};
  p.hops[1] = {t0_t1_link(plane, from, uplink0), Direction::up};
  p.hops[2] = {t1_t2_link(plane, t1_up, uplink1), Direction::up};
  p.hops[3] = {t1_t2_link(plane, t1_down, uplink1), Direction::down};
  p.hops[4] = {t0_t1_link(plane, to, uplink0), Direction::down};
  p.hops[5] = {host_link(p.destination, plane), Direction::down};
  return p;
}

Path Topology::path(HostId source, HostId destination, const Choice& c) const {
  Path p;
  p.source = source;
  p.destination = destination;
  p.choice = c;
  const std::uint32_t from = t0_of(source), to = t0_of(destination);
  if (from == to) return path_within_t0(p);
  return pod_of_t0(from) == pod_of_t0(to) ? path_within_pod(p) : path_across_pods(p);
}

std::optional<Path> Topology::path(HostId source, HostId destination, Ev ev) const {
  const auto c = choice(ev);
  return c ? std::optional(path(source, destination, *c)) : std::nullopt;
}

std::optional<Path> Topology::path_of(std::span<const Hop> hops) const {
  if (hops.size() != 2 && hops.size() != 4 && hops.size() != 6) return std::nullopt;
  for (const Hop& h : hops) {
    if (h.link.value >= links()) return std::nullopt;
  }
  const Node first = sender(hops.front()).node, last = receiver(hops.back()).node;
  if (first.tier != Tier::host || last.tier != Tier::host) return std::nullopt;
  // The hops on the way up make the choice; the rest must be what that choice gives.
  Choice c{plane(hops[0].link), 0, 0};
  if (hops.size() >= 4) c.uplink0 = sender(hops[1]).port - spec_.hosts_per_t0;
  if (hops.size() == 6) c.uplink1 = sender(hops[2]).port - spec_.t0;
  if (c.uplink0 >= uplink0_count_ || c.uplink1 >= uplink1_count_) return std::nullopt;
  const Path p = path(HostId(first.index), HostId(last.index), c);
  if (p.hop_count() != static_cast<int>(hops.size())) return std::nullopt;
  for (std::size_t i = 0; i < hops.size(); ++i) {
    if (p.hops[i] != hops[i]) return std::nullopt;
  }
  return p;
}

}  // namespace mrc::topo
