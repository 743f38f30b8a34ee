#include "map/denylist.h"

#include <algorithm>

#include "node/resolve.h"

namespace mrc::map {
namespace {

using topo::Hop;
using topo::Topology;

Ipv6 carrier_of(const node::EvBits& bits) {
  Ipv6 out;
  std::copy_n(bits.begin(), out.bytes.size(), out.bytes.begin());
  return out;
}

/// Upward only: the EV says no more.
std::vector<Hop> hops_up(const Topology& topo, HostId host, const topo::Choice& c) {
  const std::uint32_t t0 = topo.t0_of(host);
  std::vector<Hop> out{{topo.host_link(host, c.plane), topo::Direction::up}};
  if (topo.tiers() >= 2) out.push_back({topo.t0_t1_link(c.plane, t0, c.uplink0), topo::Direction::up});
  if (topo.tiers() == 3) {
    const std::uint32_t t1 = topo.pod_of_t0(t0) * topo.spec().t1 + c.uplink0;
    out.push_back({topo.t1_t2_link(c.plane, t1, c.uplink1), topo::Direction::up});
  }
  return out;
}

bool contains(const std::vector<node::EvValue>& all, const node::EvValue& v) {
  return std::find(all.begin(), all.end(), v) != all.end();
}

}  // namespace

std::vector<Hop> hops_of(const Topology& topo, HostId host, const node::ResolvedEv& ev,
                         node::FormatMode format) {
  if (format == node::FormatMode::srv6) {
    const auto path = topo.path_of(host, carrier_of(ev.wire));
    if (!path) return {};
    return {path->hops.begin(), path->hops.begin() + path->hop_count()};
  }
  const auto choice = topo.choice(ev.ev);
  if (choice && topo::nic_port(choice->plane) == ev.port) return hops_up(topo, host, *choice);
  // An EV of somebody else's making: its port is all that is known.
  if (ev.port.value < 1 || ev.port.value > topo.planes()) return {};
  return {{topo.host_link(host, topo::plane_of(ev.port)), topo::Direction::up}};
}

bool Denylist::read(std::uint64_t id, Paths& out) {
  out.profile = store_.ev(id);
  if (out.profile.state != node::ProfileState::online) return false;
  const node::FormatProfile format = store_.format(out.profile.format);
  if (!format.mode && out.profile.mode != node::EvMode::automatic) return false;
  out.set = node::resolve(out.profile, format.mode ? &format : nullptr);
  return out.set.evs.size() == out.profile.slots.size();
}

/// Dead things first: where not all may be denied, these matter more.
std::vector<bool> Denylist::wanted(const Paths& paths, const std::vector<node::EvValue>& mine,
                                   const std::vector<Finding>& findings, Change& change) const {
  const auto& slots = paths.profile.slots;
  const auto others = [&](std::size_t i) { return slots[i].denied && !contains(mine, slots[i].value); };
  std::size_t left = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) left += !slots[i].value.unpopulated() && !others(i) ? 1 : 0;
  std::vector<bool> out(slots.size(), false);
  for (const Fault fault : {Fault::dead, Fault::lossy}) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (out[i] || others(i) || slots[i].value.unpopulated()) continue;
      const auto way = hops_of(topo_, host_, paths.set.evs[i], paths.set.format);
      const bool bad = std::any_of(findings.begin(), findings.end(), [&](const Finding& f) {
        return f.culprit.fault == fault && touches(topo_, f.culprit, way);
      });
      if (!bad) continue;
      out[i] = left > paths.set.min_active;
      out[i] ? --left : ++change.spared;
    }
  }
  return out;
}

// MRC-FAB-035: denied while it is found broken, allowed again afterwards, never below min_active.
Denylist::Change Denylist::apply(std::uint64_t id, const std::vector<Finding>& findings) {
  Change change;
  Paths paths;
  if (!read(id, paths)) return denied_.erase(id), change;
  auto& mine = denied_[id];
  const std::vector<bool> deny = wanted(paths, mine, findings, change);
  node::EvChange edit;
  std::vector<node::EvValue> kept;
  for (std::size_t i = 0; i < deny.size(); ++i) {
    const node::EvSlotState& slot = paths.profile.slots[i];
    if (deny[i]) kept.push_back(slot.value);
    if (deny[i] == slot.denied || (!deny[i] && !contains(mine, slot.value))) continue;
    edit.states.push_back({slot.value, deny[i] ? node::EvState::denied : node::EvState::good});
    ++(deny[i] ? change.denied : change.allowed);
  }
  if (edit.states.empty()) return change;
  if (store_.modify_ev(id, edit).error != 0) return {};
  mine = kept;
  return change;
}

}  // namespace mrc::map
