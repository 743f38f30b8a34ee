// uSIDs of a path, packed into carriers, and a carrier read back into the path that it leads along.
#include "topo/topo.h"

namespace mrc::topo {

Usid Topology::usid(Node n) const { return usid_plan_.usid({n.tier, n.plane, n.index}); }

Usid Topology::usid(HostId h, Plane p) const { return usid_plan_.usid({Tier::host, p, downlink_of(h)}); }

std::optional<Node> Topology::switch_named(Usid u) const {
  const auto name = usid_plan_.name(u);
  if (!name || name->tier == Tier::host) return std::nullopt;
  if (name->plane >= planes() || name->index >= switches(name->tier)) return std::nullopt;
  return switch_node(name->plane, name->tier, name->index);
}

// MRC-FAB-001: the switches in order, then the downlink of the last one.
UsidList Topology::usids(const Path& p) const {
  UsidList list;
  for (int i = 0; i < p.switch_count; ++i) list.usids[list.count++] = usid(p.switches[i]);
  list.usids[list.count++] = usid(p.destination, p.choice.plane);
  return list;
}

UsidList Topology::round_trip(HostId h, Tier to, const Choice& c) const {
  const std::uint32_t t0 = t0_of(h), t1 = pod_of_t0(t0) * spec_.t1 + c.uplink0;
  UsidList list;
  const auto visit = [&](Tier tier, std::uint32_t index) {
    list.usids[list.count++] = usid(switch_node(c.plane, tier, index));
  };
  visit(Tier::t0, t0);
  if (to >= Tier::t1) visit(Tier::t1, t1);
  if (to == Tier::t2) {
    visit(Tier::t2, c.uplink0 * spec_.t2 + c.uplink1);
    visit(Tier::t1, t1);
  }
  if (to >= Tier::t1) visit(Tier::t0, t0);
  list.usids[list.count++] = usid(h, c.plane);
  return list;
}

Carriers Topology::carriers(const UsidList& list) const {
  Carriers out;
  const int first_group = spec_.locator.length / 16, room = usids_per_carrier();
  for (int i = 0; i < list.count; ++i) {
    if (i % room == 0) out.addresses[out.count++] = spec_.locator.address;
    out.addresses[out.count - 1].set_group(first_group + i % room, list.usids[i].value);
  }
  return out;
}

std::optional<Path> Topology::path_of(HostId source, const Ipv6& carrier) const {
  if (!spec_.locator.contains(carrier)) return std::nullopt;
  const int first_group = spec_.locator.length / 16;
  UsidList list;
  for (int i = 0; i < usids_per_carrier(); ++i) {
    const Usid u(carrier.group(first_group + i));
    if (u.value == 0) continue;
    if (i != list.count || i == kMaxUsids) return std::nullopt;  // a gap: the rest would never be reached
    list.usids[list.count++] = u;
  }
  if (list.count != 2 && list.count != 4 && list.count != 6) return std::nullopt;

  const auto last_t0 = switch_named(list.usids[list.count - 2]);
  const auto downlink = usid_plan_.name(list.usids[list.count - 1]);
  if (!last_t0 || last_t0->tier != Tier::t0 || !downlink) return std::nullopt;
  const auto destination = host_under(last_t0->index, downlink->index);
  if (!destination) return std::nullopt;
  Choice c{last_t0->plane, 0, 0};
  if (list.count >= 4) {
    const auto t1 = switch_named(list.usids[1]);
    if (!t1 || t1->tier != Tier::t1) return std::nullopt;
    c.uplink0 = t1->index % spec_.t1;
  }
  if (list.count == 6) {
    const auto t2 = switch_named(list.usids[2]);
    if (!t2 || t2->tier != Tier::t2) return std::nullopt;
    c.uplink1 = t2->index % spec_.t2;
  }
  const Path p = path(source, *destination, c);
  return usids(p) == list ? std::optional(p) : std::nullopt;
}

}  // namespace mrc::topo
