#include "sim/host_plan.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/prng.h"
#include "engine/sizes.h"

namespace mrc::sim {

nic::Gid gid_of(Host host) {
  nic::Gid gid;
  gid.bytes[0] = 0xFD;
  std::memcpy(gid.bytes.data() + 12, &host, sizeof host);
  return gid;
}

Host host_of(const nic::Gid& gid) {
  Host host = 0;
  std::memcpy(&host, gid.bytes.data() + 12, sizeof host);
  return host;
}

HostPlan::HostPlan(const topo::Topology& topology, const LinkPlan& link_plan,
                   const HostSettings& host_settings, bool trimming, Workload& load)
    : topo(topology), links(link_plan), settings(host_settings), workload(load), trimming_(trimming) {
  signal_delay = to_ps(topo.spec().host_link.delay);
  make_paths();
}

// Each table takes the same number of EVs of each plane, chosen at random; when all fit, one table has them
// all.
void HostPlan::make_paths() {
  const std::uint32_t per_plane =
      std::clamp<std::uint32_t>(settings.evs / topo.planes(), 1, topo.evs_per_plane());
  const std::size_t tables = per_plane == topo.evs_per_plane() ? 1 : 64;
  Prng prng(settings.seed ^ 0x7061746873ull);
  std::vector<std::uint32_t> numbers(topo.evs_per_plane());
  std::iota(numbers.begin(), numbers.end(), 0u);
  for (std::size_t t = 0; t < tables; ++t) {
    auto table = std::make_shared<std::vector<engine::Path>>();
    for (topo::Plane plane = 0; plane < topo.planes(); ++plane) {
      for (std::uint32_t i = 0; i < per_plane; ++i) {
        std::swap(numbers[i], numbers[i + prng.below(topo.evs_per_plane() - i)]);
        table->push_back({topo.ev_at(plane * topo.evs_per_plane() + numbers[i]), topo::nic_port(plane)});
      }
    }
    tables_.push_back(std::move(table));
  }
}

const nic::PathTable& HostPlan::paths(Host a, Host b) const {
  // Neighbours talk to neighbours: their pairs must not end up with the same few tables.
  std::uint64_t x = (std::uint64_t{a} << 32 | b) * 0x9E3779B97F4A7C15ull;
  x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9ull;
  return tables_[(x >> 32) % tables_.size()];
}

std::uint32_t HostPlan::datagram(std::uint64_t payload) const {
  wire::Write write;
  write.payload = static_cast<std::uint16_t>(payload);
  write.has_timestamp = settings.requestor.timestamps;
  return engine::udp_length(write);
}

std::uint32_t HostPlan::full_frame() const {
  return datagram(settings.path_mtu) + settings.encapsulation.overhead();
}

nic::NicLimits HostPlan::nic_limits(Host host) const {
  const double bdp = static_cast<double>(topo.planes() * topo.spec().host_link.bits_per_second) / 8 *
                     seconds(base_rtt(topo, full_frame(), 100));
  const auto window = static_cast<std::uint32_t>(1.5 * bdp / settings.path_mtu) + 1;
  nic::NicLimits limits;
  limits.qps = std::max(1u, workload.peers(host) * settings.qps_per_pair);
  limits.regions = 2;
  limits.packets_in_flight = settings.packets_in_flight != 0 ? settings.packets_in_flight
                                                             : window + 64 + 32 * std::min(limits.qps, 32u);
  limits.endpoint_replies = limits.endpoint_requests = 4;
  return limits;
}

// A CC profile is the device's, as in a real fabric: it names the longest round trip, and a nearer peer's base_rtt falls
// to its own with the first sample. All senders to one port then agree on the delay to settle at.
engine::CcProfile HostPlan::cc_profile() const {
  engine::LinkFacts facts;
  facts.bits_per_second = topo.planes() * topo.spec().host_link.bits_per_second;
  facts.base_rtt = Duration(base_rtt(topo, full_frame(), 150) / kPsPerNs);
  facts.mtu = engine::cc_bytes_max(settings.path_mtu);
  facts.trimming = trimming_;
  return {settings.congestion, engine::default_nscc(facts)};
}

// Two bounds, of which the later one counts: the full packets, dealt out evenly to the planes, and all bytes,
// spread perfectly. What leaves last still crosses the other hops.
Ps HostPlan::alone(Host a, Host b, std::uint64_t bytes) const {
  const std::uint64_t mtu = settings.path_mtu, planes = topo.planes();
  const std::uint64_t full = (bytes - 1) / mtu;  // packets before the last
  const std::uint32_t overhead = settings.encapsulation.overhead();
  const std::uint32_t frame = datagram(mtu) + overhead;
  const std::uint32_t last = datagram(bytes - full * mtu) + engine::kImmDt + overhead;
  const std::uint64_t rate = topo.spec().host_link.bits_per_second;
  Ps packets = serialisation((full + planes - 1) / planes * frame, rate);
  Ps spread = std::max(serialisation(full * frame + last, planes * rate), serialisation(last, rate));
  const topo::Path path = topo.path(topo::HostId(a), topo::HostId(b), topo::Choice{});
  Ps delay = path.switch_count * to_ps(topo.spec().switch_delay);
  for (int i = 0; i < path.hop_count(); ++i) {
    const topo::LinkSpec& link = topo.link_spec(path.hops[static_cast<std::size_t>(i)].link);
    delay += to_ps(link.delay);
    if (i == 0) continue;
    if (full > 0) packets += serialisation(frame, link.bits_per_second);
    spread += serialisation(last, link.bits_per_second);
  }
  return std::max(packets, spread) + delay;
}

}  // namespace mrc::sim
