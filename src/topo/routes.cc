#include "topo/routes.h"

#include <algorithm>
#include <bit>

namespace mrc::topo {
namespace {

std::uint32_t usid_key(const Topology& topo, Plane p, Tier tier, std::uint32_t index) {
  return topo.usid(switch_node(p, tier, index)).value;
}

std::uint32_t hosts_under(const Topology& topo, std::uint32_t t0) {
  const std::uint32_t per_t0 = topo.spec().hosts_per_t0, first = t0 * per_t0;
  return first >= topo.hosts() ? 0 : std::min(per_t0, topo.hosts() - first);
}

std::vector<RouteRange> t0_routes(const Topology& topo, Node sw) {
  const Spec& s = topo.spec();
  std::vector<RouteRange> out;
  const std::uint32_t first = topo.usid_plan().usid({Tier::host, sw.plane, 0}).value;
  if (const auto count = hosts_under(topo, sw.index); count > 0) out.push_back({first, count, 1, 0});
  if (s.t1 > 0) {
    const std::uint32_t t1 = usid_key(topo, sw.plane, Tier::t1, topo.pod_of_t0(sw.index) * s.t1);
    out.push_back({t1, s.t1, 1, static_cast<std::uint16_t>(s.hosts_per_t0)});
  }
  return out;
}

std::vector<RouteRange> t1_routes(const Topology& topo, Node sw) {
  const Spec& s = topo.spec();
  std::vector<RouteRange> out{{usid_key(topo, sw.plane, Tier::t0, sw.index / s.t1 * s.t0), s.t0, 1, 0}};
  if (s.t2 > 0) {
    const std::uint32_t t2 = usid_key(topo, sw.plane, Tier::t2, sw.index % s.t1 * s.t2);
    out.push_back({t2, s.t2, 1, static_cast<std::uint16_t>(s.t0)});
  }
  return out;
}

/// A T2 knows one T1 in each pod; their uSIDs are `t1` apart, so each is a range of its own.
std::vector<RouteRange> t2_routes(const Topology& topo, Node sw) {
  const Spec& s = topo.spec();
  std::vector<RouteRange> out;
  for (std::uint32_t pod = 0; pod < s.pods; ++pod) {
    out.push_back({usid_key(topo, sw.plane, Tier::t1, pod * s.t1 + sw.index / s.t2), 1, 1,
                   static_cast<std::uint16_t>(pod)});
  }
  return out;
}

constexpr std::uint32_t kKeysPerT0 = 1 << 16;

}  // namespace

std::vector<RouteRange> usid_routes(const Topology& topo, Node sw) {
  switch (sw.tier) {
    case Tier::host: break;
    case Tier::t0: return t0_routes(topo, sw);
    case Tier::t1: return t1_routes(topo, sw);
    case Tier::t2: return t2_routes(topo, sw);
  }
  return {};
}

std::vector<RouteRange> destination_routes(const Topology& topo, Node sw) {
  const Spec& s = topo.spec();
  switch (sw.tier) {
    case Tier::host: break;
    case Tier::t0: return {{sw.index * kKeysPerT0, hosts_under(topo, sw.index), 1, 0}};
    case Tier::t1: return {{sw.index / s.t1 * s.t0 * kKeysPerT0, s.t0 * kKeysPerT0, kKeysPerT0, 0}};
    case Tier::t2: return {{0, s.pods * s.t0 * kKeysPerT0, s.t0 * kKeysPerT0, 0}};
  }
  return {};
}

EvField uplink_field(const Topology& topo, Tier tier) {
  const auto bits = [](std::uint32_t count) {
    return count <= 1 ? 0 : static_cast<int>(std::bit_width(count - 1));
  };
  const int low = bits(topo.spec().t2);
  if (tier == Tier::t0) return {low, bits(topo.spec().t1)};
  return tier == Tier::t1 ? EvField{0, low} : EvField{};
}

std::vector<Route> usid_route_list(const Topology& topo, Node sw) {
  std::vector<Route> out;
  for (const RouteRange& r : usid_routes(topo, sw)) {
    for (std::uint32_t i = 0; i < r.count; ++i) {
      Ipv6Prefix prefix = topo.spec().locator;
      prefix.address.set_group(prefix.length / 16, static_cast<std::uint16_t>(r.first + i));
      prefix.length += 16;
      out.push_back({prefix, r.port + i / r.per_port});
    }
  }
  return out;
}

}  // namespace mrc::topo
