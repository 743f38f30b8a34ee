#include "sim/world.h"

#include <algorithm>

#include "sim/roce_host.h"

namespace mrc::sim {
namespace {

// The first to be told of a fault is nobody of the fabric: senders of signals from here on are strokes.
std::uint32_t stroke_sender(const topo::Topology& topo, std::uint32_t stroke) {
  return topo.hosts() + stroke;
}

Tally add_over(Ranks& ranks, const Tally& own) {
  std::int64_t values[] = {own.pending,
                           own.failed,
                           static_cast<std::int64_t>(own.data_packets),
                           static_cast<std::int64_t>(own.repairs),
                           static_cast<std::int64_t>(own.packets),
                           static_cast<std::int64_t>(own.delivered)};
  ranks.add(values);
  const auto count = [&](int i) { return static_cast<std::uint64_t>(values[i]); };
  return {values[0], values[1], count(2), count(3), count(4), count(5)};
}

}  // namespace

World::World(const topo::Topology& topo, const WorldSettings& settings, Workload& workload)
    : topo_(topo), settings_(settings) {
  settle_transport();
  HostSettings& h = settings_.hosts;
  h.encapsulation.srv6 = settings_.forwarding.forwarding == fabric::Forwarding::usid;
  links_ = plan_links(topo, settings_.queues, base_rtt(topo, h.path_mtu + 150u, 150));
  plan_ = std::make_unique<HostPlan>(topo, links_, h, settings_.queues.trim, workload, settings_.strokes);
  crew_ = std::make_unique<Crew<World>>(*this, layout());
  tallies_.resize(crew_->layout().shards);
  make_nodes();
  schedule_strokes(0);
}

// Only the nodes of this process exist.
void World::make_nodes() {
  hosts_.resize(topo_.hosts());
  switches_.resize(topo_.switches());
  const Layout& layout = crew_->layout();
  for (Host h = 0; h < topo_.hosts(); ++h) {
    if (layout.owns(h)) hosts_[h] = make_host(h);
  }
  for (std::uint32_t s = 0; s < topo_.switches(); ++s) {
    if (!layout.owns(topo_.hosts() + s)) continue;
    const topo::Node node = topo_.switch_at(s);
    std::vector<Wire> wires;
    for (std::uint32_t p = 0; p < topo_.ports(node); ++p) wires.push_back(wire_from(topo_, {node, p}));
    switches_[s] =
        std::make_unique<SwitchNode>(make_switch(topo_, node, settings_.forwarding, links_), std::move(wires),
                                     settings_.hosts.seed ^ 0x737769746368ull ^ std::uint64_t{s} << 20);
  }
}

// A RoCEv2 fabric hashes, marks at every port, never trims, and stops its neighbours instead of dropping.
void World::settle_transport() {
  if (settings_.hosts.transport != Transport::roce) return;
  const RoceSettings& roce = settings_.hosts.roce;
  QueueSettings& q = settings_.queues;
  settings_.forwarding.forwarding = fabric::Forwarding::ecmp;
  q.trim = false;
  q.mark_toward_host = true;
  q.lossless = roce.pfc;
  if (!roce.pfc) return;
  const std::uint64_t rate = topo_.spec().host_link.bits_per_second;
  const double bdp =
      static_cast<double>(rate) / 8 * seconds(base_rtt(topo_, settings_.hosts.path_mtu + 150u, 150));
  const auto bytes = [&](double bdps) {
    return static_cast<std::uint32_t>(std::clamp(bdp * bdps, 1.0, 4e9));
  };
  settings_.forwarding.pfc = {bytes(roce.pfc_xoff_bdp), bytes(roce.pfc_xon_bdp)};
}

std::unique_ptr<ProgramHost> World::make_host(Host host) {
  if (settings_.hosts.transport == Transport::roce) return std::make_unique<RoceHost>(*plan_, host);
  return std::make_unique<HostNode>(*plan_, host);
}

// Neighbours by number stay together: hosts with their T0s of all planes; the tiers above are dealt out
// evenly.
Layout World::layout() const {
  Layout layout;
  layout.ranks = settings_.ranks;
  const unsigned processes = layout.ranks == nullptr ? 1 : layout.ranks->size();
  layout.shards = std::clamp(settings_.threads, 1u, std::max(255u / processes, 1u)) * processes;
  const std::uint64_t n = layout.shards;
  const auto t0_shard = [&](std::uint32_t t0) {
    return static_cast<std::uint8_t>(t0 * n / topo_.switches(topo::Tier::t0));
  };
  for (Host h = 0; h < topo_.hosts(); ++h) layout.shard_of.push_back(t0_shard(topo_.t0_of(topo::HostId(h))));
  for (std::uint32_t s = 0; s < topo_.switches(); ++s) {
    const topo::Node node = topo_.switch_at(s);
    layout.shard_of.push_back(node.tier == topo::Tier::t0
                                  ? t0_shard(node.index)
                                  : static_cast<std::uint8_t>(node.index * n / topo_.switches(node.tier)));
  }
  const topo::Spec& spec = topo_.spec();
  Duration shortest = spec.host_link.delay;
  if (spec.tiers > 1) shortest = std::min(shortest, spec.t0_t1.delay);
  if (spec.tiers > 2) shortest = std::min(shortest, spec.t1_t2.delay);
  layout.window = std::max<Ps>(to_ps(shortest), 1);
  return layout;
}

void World::tell(std::uint32_t node, Ps when, std::uint32_t stroke) {
  if (!crew_->layout().owns(node)) return;
  Lane& lane = crew_->shard_of(node);
  const std::uint32_t slot = lane.slots().take();
  lane.slots()[slot].word = stroke;
  lane.deliver(node, {when, signal_via(stroke_sender(topo_, stroke)), slot});
}

void World::schedule_strokes(std::uint32_t first) {
  for (std::uint32_t i = first; i < settings_.strokes.size(); ++i) {
    const Stroke& s = settings_.strokes[i];
    const topo::Attachment sender = topo_.sender(s.hop), receiver = topo_.receiver(s.hop);
    tell(node_number(topo_, sender.node), s.when, i);
    if (receiver.node.tier == topo::Tier::host && s.seen()) tell(receiver.node.index, s.when, i);
  }
}

void World::apply(fabric::Link& link, const Stroke& s) {
  switch (s.what) {
    case Stroke::What::up: return link.set_state(fabric::LinkState::up);
    case Stroke::What::down: return link.set_state(fabric::LinkState::down);
    case Stroke::What::black_hole: return link.set_state(fabric::LinkState::black_hole);
    case Stroke::What::loss: return link.set_loss(s.amount);
    case Stroke::What::rate: break;
  }
  const auto rate = static_cast<double>(link.settings().rate.bits_per_second()) * s.amount;
  link.set_rate(fabric::Rate::bits_per_second(static_cast<std::uint64_t>(rate)));
}

void World::strike(ProgramHost& host, Host self, std::uint32_t stroke, Ps now) {
  const Stroke& s = settings_.strokes[stroke];
  const topo::Plane plane = topo_.plane(s.hop.link);
  const topo::Attachment sender = topo_.sender(s.hop);
  if (sender.node == topo::host_node(topo::HostId(self))) apply(host.port(plane), s);
  // Both directions of a cable change together where it is seen at all; the second one finds the port as it
  // should be.
  if (s.seen()) host.set_port(plane, s.what == Stroke::What::up, now);
}

Ps World::run(Lane& lane, std::uint32_t node, Ps begin, Ps end, std::span<const Transit> arrivals) {
  if (node < hosts_.size()) return hosts_[node]->run(lane, tallies_[lane.index()], begin, end, arrivals);
  SwitchNode& sw = *switches_[node - hosts_.size()];
  return sw.run(lane, end, arrivals, [&](std::uint64_t stroke) {
    const Stroke& s = settings_.strokes[stroke];
    apply(sw.object().port(static_cast<std::uint16_t>(topo_.sender(s.hop).port)), s);
  });
}

Tally World::total() const { return settings_.ranks == nullptr ? own_total() : total_; }

Tally World::own_total() const {
  Tally sum;
  for (const Tally& t : tallies_) {
    sum.pending += t.pending;
    sum.failed += t.failed;
    sum.data_packets += t.data_packets;
    sum.repairs += t.repairs;
    sum.packets += t.packets;
    sum.delivered += t.delivered;
  }
  return sum;
}

void World::strike_soon(std::vector<Stroke> strokes) {
  MRC_CHECK(settings_.ranks == nullptr);
  soon_.insert(soon_.end(), strokes.begin(), strokes.end());
}

// The window that begins is as good as begun: the first that can be told anything new is the one after it.
void World::add_soon(Ps begin) {
  const auto first = static_cast<std::uint32_t>(settings_.strokes.size());
  for (Stroke& s : soon_) {
    s.when = begin + crew_->layout().window;
    settings_.strokes.push_back(s);
  }
  soon_.clear();
  schedule_strokes(first);
}

bool World::proceed(Ps begin) {
  if (settings_.ranks != nullptr) total_ = add_over(*settings_.ranks, own_total());
  const Tally t = total();
  const Ps until = began_ ? now_ + crew_->layout().window : 0;
  bool enough = watch_ && !watch_({now_, until, t});
  add_soon(begin);
  if (settings_.ranks != nullptr && watch_) {
    std::int64_t stops = enough;
    settings_.ranks->add({&stops, 1});
    enough = stops > 0;
  }
  if (t.pending <= t.failed) return false;
  now_ = begin;
  began_ = true;
  stopped_early_ = enough || begin >= settings_.end;
  return !stopped_early_;
}

void World::run(Watch watch) {
  watch_ = std::move(watch);
  for (Host h = 0; h < hosts_.size(); ++h) {
    if (hosts_[h] == nullptr || !plan_->workload.takes_part(h)) continue;
    ++tallies_[crew_->layout().first_shard()].pending;  // until it has started
    crew_->shard_of(h).wake(h, 0);
  }
  crew_->run();
  if (settings_.ranks != nullptr) total_ = add_over(*settings_.ranks, own_total());
}

bool World::gather() {
  if (settings_.ranks == nullptr) return true;
  elsewhere_ =
      std::make_unique<Elsewhere>(topo_, links_, *settings_.ranks, hosts_, switches_, plan_->workload);
  return settings_.ranks->rank() == 0;
}

const HostLog& World::log_of(Host host) const {
  return hosts_[host] != nullptr ? hosts_[host]->log() : elsewhere_->log(host);
}

std::vector<QpCount> World::qp_counts(Host host) {
  return hosts_[host] != nullptr ? hosts_[host]->qp_counts() : elsewhere_->qp_counts(host);
}

const fabric::Link& World::link(topo::Hop hop) {
  const topo::Attachment sender = topo_.sender(hop);
  if (!crew_->layout().owns(node_number(topo_, sender.node))) return elsewhere_->link(hop);
  if (sender.node.tier == topo::Tier::host) return hosts_[sender.node.index]->port(sender.port);
  return switches_[topo_.switch_number(sender.node)]->object().port(static_cast<std::uint16_t>(sender.port));
}

std::vector<Flow> World::flows() {
  std::vector<Flow> out;
  std::vector<std::size_t> first(hosts_.size());  // of a source's flows in `out`
  for (Host h = 0; h < hosts_.size(); ++h) {
    first[h] = out.size();
    for (const SentRecord& r : log_of(h).sent) {
      out.push_back({h, r.destination, r.flow, r.tag, r.bytes, r.start, kNeverPs, r.acknowledged, r.failed});
    }
  }
  // The receiver's half finds the sender's by pair and sequence: a source's records, sorted so, are searched.
  struct Arrival {
    Host destination;
    std::uint32_t sequence;
    Ps when;
  };
  std::vector<std::vector<Arrival>> arrivals(hosts_.size());  // by source
  for (Host h = 0; h < hosts_.size(); ++h) {
    for (const ReceivedRecord& r : log_of(h).received) arrivals[r.source].push_back({h, r.sequence, r.when});
  }
  std::vector<std::pair<std::uint64_t, std::size_t>> sent;
  const auto key = [](Host destination, std::uint32_t sequence) {
    return std::uint64_t{destination} << 32 | sequence;
  };
  for (Host h = 0; h < hosts_.size(); ++h) {
    sent.clear();
    for (const SentRecord& r : log_of(h).sent)
      sent.emplace_back(key(r.destination, r.sequence), first[h] + sent.size());
    std::sort(sent.begin(), sent.end());
    for (const Arrival& a : arrivals[h]) {
      const auto found = std::lower_bound(sent.begin(), sent.end(),
                                          std::pair(key(a.destination, a.sequence), std::size_t{0}));
      if (found != sent.end() && found->first == key(a.destination, a.sequence))
        out[found->second].received = a.when;
    }
  }
  return out;
}

}  // namespace mrc::sim
