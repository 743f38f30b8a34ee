#include "sim/host_plan.h"

#include <algorithm>
#include <cstring>

#include "engine/sizes.h"
#include "sim/ev_turns.h"
#include "sim/roce_packet.h"

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

namespace {

// A device that knows its fabric's round trip need not wait for a stranger's: until a path's first sample, a
// packet without an answer is asked about after two of them, where queues may double the first.
HostSettings with_round_trip(HostSettings s, const topo::Topology& topo) {
  const Duration longest(2 * base_rtt(topo, s.path_mtu + 150u, 150) / kPsPerNs);
  s.requestor.initial_rtt = std::min(s.requestor.initial_rtt, longest);
  return s;
}

}  // namespace

HostPlan::HostPlan(const topo::Topology& topology, const LinkPlan& link_plan,
                   const HostSettings& host_settings, bool trimming, Workload& load,
                   std::span<const Stroke> strokes)
    : topo(topology),
      links(link_plan),
      settings(with_round_trip(host_settings, topology)),
      workload(load),
      wire(host_settings.wire ? std::make_unique<WirePath>(topology, host_settings.encapsulation) : nullptr),
      trimming_(trimming) {
  signal_delay = to_ps(topo.spec().host_link.delay);
  by_capacity_ = settings.evs_by == EvsBy::capacity && topo.evs_per_plane() <= settings.evs / topo.planes();
  by_capacity_ ? make_paths_by_capacity(strokes) : make_paths();
}

// One table per T0: its own uplinks count, and what the spines carry to the others.
void HostPlan::make_paths_by_capacity(std::span<const Stroke> strokes) {
  for (std::uint32_t t0 = 0; t0 < t0s_with_hosts(topo); ++t0) {
    const auto turns = ev_turns(topo, strokes, t0, settings.evs / topo.planes());
    auto table = std::make_shared<std::vector<engine::Path>>();
    for (std::uint32_t e = 0; e < topo.evs(); ++e) {
      const engine::Path path{topo.ev_at(e), topo::nic_port(e / topo.evs_per_plane())};
      table->insert(table->end(), turns[e], path);
    }
    tables_.push_back(std::move(table));
  }
}

// When a QP can't have all EVs, neighbours under one T0 divide them: each takes every n-th uplink, beginning
// with the next one, and with another next one in each plane. So all of them together load every uplink
// alike. Drawn at random, some uplinks would be in three times as many hands as others, with nothing but the
// few EVs of a QP to evade to. One table per downlink; when all EVs fit, one for all.
void HostPlan::make_paths() {
  const std::uint32_t all = topo.evs_per_plane();
  const std::uint32_t each = std::clamp<std::uint32_t>(settings.evs / topo.planes(), 1, all);
  const std::uint32_t stride = (all + each - 1) / each;
  const std::uint32_t tables = stride == 1 ? 1 : topo.spec().hosts_per_t0;
  std::vector<bool> taken;
  for (std::uint32_t t = 0; t < tables; ++t) {
    auto table = std::make_shared<std::vector<engine::Path>>();
    for (topo::Plane plane = 0; plane < topo.planes(); ++plane) {
      taken.assign(all, false);
      std::uint32_t number = (t + plane * (t / stride)) % stride;
      for (std::uint32_t i = 0; i < each; ++i, number = (number + stride) % all) {
        while (taken[number]) number = (number + 1) % all;
        taken[number] = true;
        table->push_back({topo.ev_at(plane * all + number), topo::nic_port(plane)});
      }
    }
    tables_.push_back(std::move(table));
  }
}

const nic::PathTable& HostPlan::paths(Host a) const {
  if (by_capacity_) return tables_[topo.t0_of(topo::HostId(a))];
  return tables_[topo.downlink_of(topo::HostId(a)) % tables_.size()];
}

std::uint32_t HostPlan::frame(std::uint64_t payload, bool last) const {
  if (settings.transport == Transport::roce)
    return roce_frame_bytes({.payload = static_cast<std::uint16_t>(payload)});
  wire::Write write;
  write.payload = static_cast<std::uint16_t>(payload);
  write.has_timestamp = settings.requestor.timestamps;
  write.has_imm = last;
  return engine::udp_length(write) + settings.encapsulation.overhead();
}

std::uint32_t HostPlan::full_frame() const { return frame(settings.path_mtu); }

double HostPlan::wire_bytes(std::uint64_t bytes) const {
  const std::uint64_t full = (bytes - 1) / settings.path_mtu;
  return static_cast<double>(full * full_frame() + frame(bytes - full * settings.path_mtu, true));
}

// Records are held from the oldest hole on: while a loss is found and repaired, which takes three round trips
// of a full window, new packets must not want for any.
constexpr std::uint32_t kWindowsOfRecords = 4;

nic::NicLimits HostPlan::nic_limits(Host host) const {
  const double bdp = static_cast<double>(topo.planes() * topo.spec().host_link.bits_per_second) / 8 *
                     seconds(base_rtt(topo, full_frame(), 100));
  const auto window = static_cast<std::uint32_t>(1.5 * bdp / settings.path_mtu) + 1;
  nic::NicLimits limits;
  limits.qps = std::max(1u, workload.peers(host) * settings.qps_per_pair);
  limits.regions = 2;
  limits.packets_in_flight = settings.packets_in_flight != 0
                                 ? settings.packets_in_flight
                                 : kWindowsOfRecords * window + 64 + 32 * std::min(limits.qps, 32u);
  limits.endpoint_replies = limits.endpoint_requests = 4;
  return limits;
}

// A CC profile is the device's, as in a real fabric: it names the longest round trip, and a nearer peer's
// base_rtt falls to its own with the first sample. All senders to one port then agree on the delay to settle
// at.
engine::CcProfile HostPlan::cc_profile() const {
  engine::LinkFacts facts;
  facts.bits_per_second = topo.planes() * topo.spec().host_link.bits_per_second;
  facts.base_rtt = Duration(base_rtt(topo, full_frame(), 150) / kPsPerNs);
  facts.mtu = engine::cc_bytes_max(settings.path_mtu);
  facts.trimming = trimming_;
  engine::CcProfile profile{settings.congestion, engine::default_nscc(facts)};
  if (settings.window != 0) profile.nscc.max_cwnd = settings.window;
  if (settings.target_delay != 0)
    profile.nscc.target_delay = static_cast<std::uint32_t>(settings.target_delay / kPsPerNs);
  engine::complete_nscc(profile.nscc, facts.mtu);  // what a profile has no field for follows from its fields
  return profile;
}

// Two bounds, of which the later one counts: the full packets, dealt out evenly to the planes, and all bytes,
// spread perfectly. What leaves last still crosses the other hops.
Ps HostPlan::alone(Host a, Host b, std::uint64_t bytes) const {
  const std::uint64_t mtu = settings.path_mtu, planes = topo.planes();
  const std::uint64_t full = (bytes - 1) / mtu;  // packets before the last
  const std::uint32_t whole = full_frame(), last = frame(bytes - full * mtu, true);
  const std::uint64_t rate = topo.spec().host_link.bits_per_second;
  Ps packets = serialisation((full + planes - 1) / planes * whole, rate);
  Ps spread = std::max(serialisation(full * whole + last, planes * rate), serialisation(last, rate));
  const topo::Path path = topo.path(topo::HostId(a), topo::HostId(b), topo::Choice{});
  Ps delay = path.switch_count * to_ps(topo.spec().switch_delay);
  for (int i = 0; i < path.hop_count(); ++i) {
    const topo::LinkSpec& link = topo.link_spec(path.hops[static_cast<std::size_t>(i)].link);
    delay += to_ps(link.delay);
    if (i == 0) continue;
    if (full > 0) packets += serialisation(whole, link.bits_per_second);
    spread += serialisation(last, link.bits_per_second);
  }
  return std::max(packets, spread) + delay;
}

}  // namespace mrc::sim
