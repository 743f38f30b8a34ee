#include "lab/switch_plan.h"

#include "topo/routes.h"

namespace mrc::lab {
namespace {

fabric::Table table_of(const std::vector<topo::RouteRange>& routes) {
  std::vector<fabric::Range> ranges;
  for (const topo::RouteRange& r : routes) ranges.push_back({r.first, r.count, r.per_port, r.port});
  return fabric::Table(ranges);
}

}  // namespace

SoftSwitchSettings switch_settings(const topo::Topology& topo, topo::Node sw, const SwitchTuning& tuning) {
  SoftSwitchSettings out;
  out.by_usid.usid = topo.usid(sw).value;
  out.usid_table = table_of(topo::usid_routes(topo, sw));
  out.plain.forwarding = fabric::Forwarding::ecmp;
  out.plain.hash_salt = topo.switch_number(sw);
  out.plain.uplinks.first = static_cast<std::uint16_t>(topo.downlinks(sw));
  out.plain.uplinks.count = static_cast<std::uint16_t>(topo.ports(sw) - topo.downlinks(sw));
  out.plain_table = table_of(topo::destination_routes(topo, sw));
  out.bytes.locator = topo.spec().locator;
  out.bytes.host_prefix = topo.spec().host_prefix;
  out.bytes.wire = tuning.wire;
  out.link_local = topo.link_local(sw);
  out.seed = tuning.seed;
  return out;
}

fabric::LinkSettings link_settings(const topo::Topology& topo, topo::Attachment at,
                                   const SwitchTuning& tuning) {
  fabric::LinkSettings out = tuning.link;
  const auto link = topo.link_at(at);
  const bool limited = tuning.limit_rate && link;
  out.rate = limited ? fabric::Rate::bits_per_second(topo.link_spec(*link).bits_per_second)
                     : fabric::Rate::unlimited();
  out.delay = fabric::PsDuration(0);  // the interface's own
  const auto peer = topo.peer(at);
  out.toward_host = peer && peer->node.tier == topo::Tier::host;
  return out;
}

}  // namespace mrc::lab
