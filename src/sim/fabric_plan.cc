#include "sim/fabric_plan.h"

#include <algorithm>

#include "topo/routes.h"

namespace mrc::sim {

using fabric::LinkSettings;
using topo::Direction;
using topo::LinkKind;
using topo::Tier;

const LinkSettings& LinkPlan::of(LinkKind kind, Direction direction) const {
  const bool up = direction == Direction::up;
  switch (kind) {
    case LinkKind::host_t0: return up ? host_up : to_host;
    case LinkKind::t0_t1: return up ? t0_up : t1_down;
    case LinkKind::t1_t2: break;
  }
  return up ? t1_up : t2_down;
}

Ps base_rtt(const topo::Topology& topo, topo::HostId a, topo::HostId b, std::uint32_t frame_bytes,
            std::uint32_t answer_bytes) {
  const topo::Path path = topo.path(a, b, topo::Choice{});
  Ps sum = 0;
  for (int i = 0; i < path.hop_count(); ++i) {
    const topo::LinkSpec& link = topo.link_spec(path.hops[static_cast<std::size_t>(i)].link);
    sum += 2 * to_ps(link.delay) + serialisation(frame_bytes, link.bits_per_second) +
           serialisation(answer_bytes, link.bits_per_second);
  }
  return sum + 2 * path.switch_count * to_ps(topo.spec().switch_delay);
}

Ps base_rtt(const topo::Topology& topo, std::uint32_t frame_bytes, std::uint32_t answer_bytes) {
  return base_rtt(topo, topo::HostId(0), topo::HostId(topo.hosts() - 1), frame_bytes, answer_bytes);
}

namespace {

constexpr std::uint32_t kNoLimit = 4'000'000'000;

LinkSettings settings_of(const topo::LinkSpec& link, Duration switch_delay, const QueueSettings& q, Ps rtt,
                         std::uint32_t room_bytes = 0) {
  const double bdp = static_cast<double>(link.bits_per_second) / 8 * seconds(rtt);
  const auto bytes = [](double v) { return static_cast<std::uint32_t>(std::clamp(v, 1.0, 4e9)); };
  const double room = room_bytes != 0 ? room_bytes : bdp * q.data_bdp;
  LinkSettings s;
  s.data_limit = q.lossless ? kNoLimit : bytes(room);
  s.control_limit = bytes(bdp * q.control_bdp);
  s.ecn_low = bytes(room * q.ecn_low);
  s.ecn_high = bytes(room * q.ecn_high);
  s.trim_bytes = q.trim_bytes;
  s.mark_at = q.mark_at;
  s.ecn = q.ecn;
  s.trim = q.trim;
  s.rate = fabric::Rate::bits_per_second(link.bits_per_second);
  // The time through the switch at the far end is part of getting there.
  s.delay = fabric::PsDuration(to_ps(link.delay + switch_delay));
  return s;
}

}  // namespace

LinkPlan plan_links(const topo::Topology& topo, const QueueSettings& q, Ps rtt) {
  const topo::Spec& spec = topo.spec();
  LinkPlan plan;
  plan.host_up = settings_of(spec.host_link, spec.switch_delay, q, rtt);
  plan.host_up.ecn = plan.host_up.trim = false;  // a NIC sends when its wire is free: there is no queue
  plan.to_host = settings_of(spec.host_link, Duration(0), q, rtt, q.rooms.to_host);
  plan.to_host.toward_host = !q.mark_toward_host;
  plan.t0_up = settings_of(spec.t0_t1, spec.switch_delay, q, rtt, q.rooms.t0_up);
  plan.t1_down = settings_of(spec.t0_t1, spec.switch_delay, q, rtt, q.rooms.t1_down);
  plan.t1_up = settings_of(spec.t1_t2, spec.switch_delay, q, rtt, q.rooms.t1_up);
  plan.t2_down = settings_of(spec.t1_t2, spec.switch_delay, q, rtt, q.rooms.t2_down);
  return plan;
}

Wire wire_from(const topo::Topology& topo, topo::Attachment end) {
  const auto hop = topo.hop_from(end);
  const auto peer = topo.peer(end);
  if (!hop || !peer) return {};  // a downlink without a host: no route leads there
  return {node_number(topo, peer->node), hop->index(), true};
}

fabric::Switch make_switch(const topo::Topology& topo, topo::Node sw, const ForwardingSettings& f,
                           const LinkPlan& plan) {
  fabric::SwitchSettings settings;
  settings.forwarding = f.forwarding;
  settings.usid = topo.usid(sw).value;
  settings.pfc = f.pfc;
  settings.hash_salt = topo.switch_number(sw) * 2654435761u;
  settings.uplinks.first = static_cast<std::uint16_t>(topo.downlinks(sw));
  settings.uplinks.count = static_cast<std::uint16_t>(topo.ports(sw) - topo.downlinks(sw));
  const topo::EvField field = topo::uplink_field(topo, sw.tier);
  settings.uplinks.ev_shift = static_cast<std::uint8_t>(field.shift);
  settings.uplinks.ev_bits = static_cast<std::uint8_t>(field.bits);

  const auto routes = f.forwarding == fabric::Forwarding::usid ? topo::usid_routes(topo, sw)
                                                               : topo::destination_routes(topo, sw);
  std::vector<fabric::Range> ranges;
  for (const topo::RouteRange& r : routes) ranges.push_back({r.first, r.count, r.per_port, r.port});
  std::vector<fabric::Link> ports;
  for (std::uint32_t p = 0; p < topo.ports(sw); ++p) {
    const bool up = p >= topo.downlinks(sw);
    const LinkKind kind = sw.tier == Tier::t0          ? (up ? LinkKind::t0_t1 : LinkKind::host_t0)
                          : sw.tier == Tier::t1 && !up ? LinkKind::t0_t1
                                                       : LinkKind::t1_t2;
    ports.emplace_back(plan.of(kind, up ? Direction::up : Direction::down));
  }
  return fabric::Switch(settings, fabric::Table(ranges), std::move(ports));
}

}  // namespace mrc::sim
