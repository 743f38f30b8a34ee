#include "view/world_frames.h"

#include <algorithm>

#include "node/qp_facts.h"

namespace mrc::view {
namespace {

using fabric::LinkState;
using sim::Host;

constexpr std::uint32_t kCells = 64;  // a side: what a panel of the page has pixels for

double rate_of(std::uint64_t bytes, std::int64_t span_ns) {
  return span_ns > 0 ? static_cast<double>(bytes) * 8e9 / static_cast<double>(span_ns) : 0;
}

std::string text_of(const HopFault& f) {
  char text[40];
  switch (f.kind) {
    case HopFault::Kind::down: return "down";
    case HopFault::Kind::black_hole: return "swallows everything";
    case HopFault::Kind::loss: std::snprintf(text, sizeof text, "loses %.3g %%", 100 * f.amount); return text;
    case HopFault::Kind::rate: break;
  }
  std::snprintf(text, sizeof text, "at %.3g %% of its rate", 100 * f.amount);
  return text;
}

}  // namespace

void PacketSampler::on_event(const engine::Event& event) {
  const auto* sent = std::get_if<engine::PacketSent>(&event.body);
  if (sent == nullptr) return;
  if (ring_.size() < kMost) {
    ring_.push_back({event.qpn, *sent});
  } else {
    ring_[next_] = {event.qpn, *sent};
    next_ = (next_ + 1) % kMost;
  }
}

std::vector<PacketSampler::Sent> PacketSampler::take() {
  std::rotate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(next_), ring_.end());
  next_ = 0;
  return std::exchange(ring_, {});
}

WorldFrames::WorldFrames(const topo::Topology& topo)
    : topo_(topo),
      hops_(2 * std::size_t{topo.links()}),
      everything_(2 * std::uint64_t{topo.links()} <= kMostHops),
      active_(everything_ ? 0 : hops_.size()),
      talking_(everything_ ? 0 : topo.hosts()) {}

void WorldFrames::tell(Frame& f, const char* kind, std::string what, std::string target) {
  if (f.happenings.size() == kMostHappenings) return;
  f.happenings.push_back({f.time_ns, kind, std::move(what), std::move(target)});
}

Frame WorldFrames::take(sim::World& world, const sim::Progress& progress, const Focus& focus,
                        PacketSampler& packets) {
  Frame f;
  f.number = number_++;
  f.time_ns = progress.now / sim::kPsPerNs;
  f.span_ns = (progress.now - last_) / sim::kPsPerNs;
  last_ = progress.now;
  f.totals.goodput = rate_of(progress.total.delivered - delivered_, f.span_ns);
  f.totals.delivered = delivered_ = progress.total.delivered;
  f.totals.packets = progress.total.data_packets;
  f.totals.repairs = progress.total.repairs;
  choose_hops(focus, f);
  look_at_links(world, f);
  tell_faults(f);
  look_at_qps(world, focus.host, true, f);
  for (Host h = 0; h < topo_.hosts() && f.qps.size() < kMostQps; ++h) {
    if (h == focus.host || passed_over(h, talking_)) continue;
    const std::size_t before = f.qps.size();
    look_at_qps(world, h, false, f);
    if (!everything_) talking_[h] = f.qps.size() > before;
  }
  look_at_packets(world, focus.host, packets.take(), f);
  return f;
}

void WorldFrames::choose_hops(const Focus& focus, Frame& f) const {
  const topo::Spec& s = topo_.spec();
  const std::uint32_t plane = focus.plane * topo_.links_per_plane(), t0s = topo_.switches(topo::Tier::t0);
  std::uint32_t first = 0, links = topo_.links();
  if (!everything_) first = plane, links = topo_.links_per_plane();
  if (2 * links > kMostHops) {
    const std::uint32_t rows = std::clamp(kMostHops / 2 / (s.hosts_per_t0 + s.t1), 1u, t0s);
    const std::uint32_t row = std::min(focus.t0 - std::min(focus.t0, rows / 2), t0s - rows);
    const std::uint32_t hosts = std::min(row * s.hosts_per_t0, topo_.hosts());
    first = plane + hosts;
    links = std::min(rows * s.hosts_per_t0, topo_.hosts() - hosts);
    f.up.first = 2 * (plane + topo_.hosts() + row * s.t1);
    f.up.load.resize(2 * std::size_t{rows} * s.t1);
    f.up.queue.resize(f.up.load.size());
  }
  f.first_hop = 2 * first;
  f.load.resize(2 * std::size_t{links});
  f.queue.resize(f.load.size());
  if (everything_) return;
  f.switch_load.resize(topo_.switches());
  const std::uint32_t blocks = s.tiers;
  f.cells.columns = std::min(kCells, s.tiers > 1 ? std::min(s.hosts_per_t0, s.t1) : s.hosts_per_t0);
  if (s.tiers > 2) f.cells.columns = std::min(f.cells.columns, s.t2);
  f.cells.rows = std::min(kCells, t0s);
  f.cells.load.resize(std::size_t{topo_.planes()} * blocks * f.cells.rows * f.cells.columns);
}

// Small blocks, so that whatever begins appears in all planes alike.
bool WorldFrames::passed_over(std::uint32_t index, const std::vector<std::uint8_t>& active) const {
  return !everything_ && active[index] == 0 && index / kBlock % kTurns != number_ % kTurns;
}

void WorldFrames::note_level(std::uint32_t hop, std::uint8_t level, std::uint8_t queue, Frame& f) const {
  if (hop >= f.first_hop && hop - f.first_hop < f.load.size()) {
    f.load[hop - f.first_hop] = level;
    f.queue[hop - f.first_hop] = queue;
  } else if (hop >= f.up.first && hop - f.up.first < f.up.load.size()) {
    f.up.load[hop - f.up.first] = level;
    f.up.queue[hop - f.up.first] = queue;
  }
  if (!f.cells.load.empty()) note_cell(hop, level, f);
}

void WorldFrames::note_cell(std::uint32_t hop, std::uint8_t level, Frame& f) const {
  const topo::Spec& s = topo_.spec();
  const std::uint32_t plane = hop / 2 / topo_.links_per_plane(), t0s = topo_.switches(topo::Tier::t0);
  std::uint32_t within = hop / 2 % topo_.links_per_plane(), block = 0, columns = s.hosts_per_t0, rows = t0s;
  if (within >= topo_.hosts()) within -= topo_.hosts(), block = 1, columns = s.t1;
  if (block == 1 && within >= t0s * s.t1)
    within -= t0s * s.t1, block = 2, columns = s.t2, rows = s.pods * s.t1;
  const std::uint32_t column = within % columns * f.cells.columns / columns;
  const std::uint32_t row = within / columns * f.cells.rows / rows;
  const std::size_t at =
      ((std::size_t{plane} * s.tiers + block) * f.cells.rows + row) * f.cells.columns + column;
  f.cells.load[at] = std::max(f.cells.load[at], level);
}

void WorldFrames::look_at_links(sim::World& world, Frame& f) {
  std::vector<std::uint64_t> plane_bytes(topo_.planes());
  for (std::uint32_t i = 0; i < hops_.size(); ++i) {
    if (passed_over(i, active_)) continue;
    const topo::Hop hop = topo::hop_at(i);
    const fabric::Link& link = world.link(hop);
    const bool known = everything_ || active_[i] != 0;
    if (!known) hops_[i].bytes = link.counters().bytes;  // one that begins has no rate yet
    const std::uint64_t before = hops_[i].bytes;
    const std::size_t faults = f.faults.size() + f.more_faults;
    const bool used = link.counters().packets != 0 || link.counters().drops != 0;
    if (used && known) look_at_link(link, i, f);
    look_at_fault(link, i, f);
    if (!everything_) active_[i] = used || f.faults.size() + f.more_faults > faults;
    if (hop.direction == topo::Direction::down && topo_.kind(hop.link) == topo::LinkKind::host_t0)
      plane_bytes[topo_.plane(hop.link)] += hops_[i].bytes - before;
  }
  for (const std::uint64_t bytes : plane_bytes) f.plane_rate.push_back(rate_of(bytes, f.span_ns));
}

void WorldFrames::look_at_link(const fabric::Link& link, std::uint32_t hop, Frame& f) {
  const fabric::LinkCounters& c = link.counters();
  Before& b = hops_[hop];
  const double nominal = static_cast<double>(link.settings().rate.bits_per_second());
  const std::uint8_t level = to_level(rate_of(c.bytes - b.bytes, f.span_ns) / nominal);
  note_level(hop, level, to_level(static_cast<double>(link.data_depth()) / link.settings().data_limit), f);
  if (!f.switch_load.empty()) {
    const topo::Node sender = topo_.sender(topo::hop_at(hop)).node;
    if (sender.tier != topo::Tier::host) {
      std::uint8_t& busiest = f.switch_load[topo_.switch_number(sender)];
      busiest = std::max(busiest, level);
    }
  }
  const auto note = [&](std::uint32_t now, std::uint32_t& before, std::vector<HopCount>& list,
                        std::uint64_t& sum) {
    sum += now;
    if (now != before && list.size() < kMostCounts) list.push_back({hop, now - before});
    before = now;
  };
  note(c.trims, b.trims, f.trims, f.totals.trims);
  note(c.drops + c.losses, b.lost, f.lost, f.totals.lost);
  note(c.marks, b.marks, f.marks, f.totals.marks);
  b.bytes = c.bytes;
}

void WorldFrames::look_at_fault(const fabric::Link& link, std::uint32_t hop, Frame& f) {
  HopFault fault{hop};
  if (link.state() == LinkState::up && link.loss() == 0 && link.rate() == link.settings().rate) return;
  if (f.faults.size() == kMostFaults) return void(++f.more_faults);
  if (link.state() == LinkState::black_hole) fault.kind = HopFault::Kind::black_hole;
  if (link.state() == LinkState::up) {
    const bool slow = link.loss() == 0;
    fault.kind = slow ? HopFault::Kind::rate : HopFault::Kind::loss;
    fault.amount = slow ? static_cast<double>(link.rate().bits_per_second()) /
                              static_cast<double>(link.settings().rate.bits_per_second())
                        : link.loss();
  }
  f.faults.push_back(fault);
}

void WorldFrames::tell_faults(Frame& f) {
  std::map<std::uint32_t, std::string> broken;
  for (const HopFault& fault : f.faults) broken.emplace(fault.hop / 2, text_of(fault));
  for (const auto& [link, how] : broken) {
    const auto before = broken_.find(link);
    if (before != broken_.end() && before->second == how) continue;
    const std::string name = topo_.name(topo::LinkId(link));
    tell(f, "link", name + ": " + how, name);
  }
  for (const auto& [link, how] : broken_) {
    if (broken.contains(link)) continue;
    const std::string name = topo_.name(topo::LinkId(link));
    tell(f, "link", name + ": works again", name);
  }
  broken_ = std::move(broken);
}

/// Hosts are looked at in turns where there are many, so the count before may be older than a frame; and of
/// one that was never counted nobody knows since when it sends.
double WorldFrames::rate_of_qp(const QpBefore& before, std::uint64_t bytes, const Frame& f) const {
  if (before.time_ns >= 0) return rate_of(bytes - before.bytes, f.time_ns - before.time_ns);
  return everything_ ? rate_of(bytes, f.span_ns) : 0;
}

/// `all`: also QPs that only receive.
void WorldFrames::look_at_qps(sim::World& world, Host host, bool all, Frame& f) {
  world.host(host).visit_qps([&](Host peer, nic::Qp& qp) {
    if (!qp.engine || (!all && qp.engine->requestor().counters().packets == 0)) return;
    if (f.qps.size() == kMostQps) return void(++f.more_qps);
    QpFrame& out = f.qps.emplace_back(QpFrame{host, peer, 0, node::facts_of(qp, true)});
    QpBefore& before = qps_[{host, qp.qpn.value}];
    if (out.facts.tx_bytes < before.bytes) before = {};  // another QP took the number
    out.rate = rate_of_qp(before, out.facts.tx_bytes, f);
    before.bytes = out.facts.tx_bytes;
    before.time_ns = f.time_ns;
    const std::uint16_t bad = out.facts.evs_in_state[static_cast<int>(node::EvFactState::assumed_bad)];
    if (bad != before.bad) {
      const std::string who = "h" + std::to_string(host) + " to h" + std::to_string(peer);
      const std::string now =
          bad == 0 ? "all EVs usable again"
                   : std::to_string(bad) + " of " + std::to_string(out.facts.evs.size()) + " EVs assumed bad";
      tell(f, "path", who + ": " + now);
    }
    before.bad = bad;
  });
}

void WorldFrames::look_at_packets(sim::World& world, Host host, std::vector<PacketSampler::Sent> sent,
                                  Frame& f) {
  std::map<std::uint32_t, std::pair<Host, const nic::Qp*>> qps;
  world.host(host).visit_qps([&](Host peer, nic::Qp& qp) { qps[qp.qpn.value] = {peer, &qp}; });
  for (const PacketSampler::Sent& s : sent) {
    const auto qp = qps.find(s.qpn.value);
    if (qp == qps.end() || !qp->second.second->engine) continue;
    const auto& [peer, nic_qp] = qp->second;
    const Ev ev = nic_qp->engine->paths().path(s.packet.slot).ev;
    const auto path = topo_.path(topo::HostId(host), topo::HostId(peer), ev);
    if (!path) continue;
    PacketFrame& p = f.packets.emplace_back();
    p.peer = peer;
    p.psn = s.packet.psn.value();
    p.repair = s.packet.repair;
    p.hop_count = static_cast<std::uint8_t>(path->hop_count());
    for (int i = 0; i < path->hop_count(); ++i) p.hops[i] = path->hops[static_cast<std::size_t>(i)].index();
  }
}

}  // namespace mrc::view
