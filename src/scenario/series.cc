#include "scenario/series.h"

#include <algorithm>

namespace mrc::scenario {
namespace {

constexpr sim::Ps kFirstInterval = 1'000'000;  // 1 us
constexpr std::size_t kMostSamples = 512;
constexpr std::uint64_t kMostLooks = 200'000'000;  // at links, in a run: some seconds

QueueRow row_of(topo::LinkKind kind, topo::Direction direction) {
  const bool up = direction == topo::Direction::up;
  switch (kind) {
    case topo::LinkKind::host_t0: return QueueRow::to_host;
    case topo::LinkKind::t0_t1: return up ? QueueRow::t0_up : QueueRow::t1_down;
    case topo::LinkKind::t1_t2: break;
  }
  return up ? QueueRow::t1_up : QueueRow::t2_down;
}

}  // namespace

Series::Series(const topo::Topology& topology, sim::Ps interval, std::size_t most)
    : interval_(interval > 0 ? interval : kFirstInterval), most_(most) {
  const std::uint64_t looks = 2ull * topology.links() * 10;
  if (interval == 0)
    most_ = std::clamp<std::size_t>(static_cast<std::size_t>(kMostLooks / looks), 32, kMostSamples);
}

void Series::take(sim::World& world, const sim::Progress& progress) {
  const topo::Topology& topo = world.topo();
  Sample s;
  s.when = progress.now;
  s.delivered = progress.total.delivered;
  s.data_packets = progress.total.data_packets;
  s.repairs = progress.total.repairs;
  s.plane_bytes.resize(topo.planes());
  s.depth.resize(topo.planes() * kQueueRows);
  for (std::uint32_t i = 0; i < 2 * topo.links(); ++i) {
    const topo::Hop hop = topo::hop_at(i);
    const fabric::Link& link = world.link(hop);
    const fabric::LinkCounters& c = link.counters();
    const topo::LinkKind kind = topo.kind(hop.link);
    const topo::Plane plane = topo.plane(hop.link);
    s.trims += c.trims;
    s.marks += c.marks;
    s.lost += c.drops + c.losses;
    if (kind == topo::LinkKind::host_t0 && hop.direction == topo::Direction::up) continue;
    if (kind == topo::LinkKind::host_t0) s.plane_bytes[plane] += c.bytes;
    std::uint32_t& depth =
        s.depth[plane * kQueueRows + static_cast<std::size_t>(row_of(kind, hop.direction))];
    depth = std::max(depth, link.data_depth());
  }
  samples_.push_back(std::move(s));
  next_ = progress.now + interval_;
  if (samples_.size() >= most_) halve();
}

// Counts are cumulative, so a sample can go; its queue was real, so the next one keeps it.
void Series::halve() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const bool drop = i % 2 == 1 && i + 1 < samples_.size();
    if (drop) {
      for (std::size_t d = 0; d < samples_[i].depth.size(); ++d)
        samples_[i + 1].depth[d] = std::max(samples_[i + 1].depth[d], samples_[i].depth[d]);
      continue;
    }
    if (kept != i) samples_[kept] = std::move(samples_[i]);
    ++kept;
  }
  samples_.resize(kept);
  interval_ *= 2;
  next_ = samples_.back().when + interval_;
}

PhaseMeter::PhaseMeter(const std::vector<Phase>& phases)
    : phases_(phases), begin_(phases.size(), -1), end_(phases.size(), -1) {}

void PhaseMeter::note(const sim::Progress& p) {
  const auto total = static_cast<double>(p.total.delivered);
  // Within the window that has just ended bytes are taken to have come evenly.
  const auto by = [&](sim::Ps moment) {
    if (p.now <= p.since || moment >= p.now) return total;
    if (moment <= p.since) return last_;
    return last_ +
           (total - last_) * static_cast<double>(moment - p.since) / static_cast<double>(p.now - p.since);
  };
  for (std::size_t i = 0; i < phases_.size(); ++i) {
    if (begin_[i] < 0 && p.now >= phases_[i].from) begin_[i] = by(phases_[i].from);
    if (end_[i] < 0 && p.now >= phases_[i].to) end_[i] = by(phases_[i].to);
  }
  if (total > last_) {
    if (heard_ > 0) silence_ = std::max(silence_, p.since - heard_);
    heard_ = p.now;
  }
  last_ = total;
  now_ = p.now;
}

sim::Ps PhaseMeter::length(std::size_t phase) const {
  const Phase& p = phases_[phase];
  return std::max<sim::Ps>(std::min(p.to, now_) - p.from, 0);
}

}  // namespace mrc::scenario
