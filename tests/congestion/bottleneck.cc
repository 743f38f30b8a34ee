#include "bottleneck.h"

#include <algorithm>

namespace mrc::testing {

namespace {
Picos picos(Duration d) { return d.count() * 1000; }
}  // namespace

Duration BottleneckConfig::base_rtt() const {
  const double wire = 2.0 * link.mtu * 8e9 / static_cast<double>(link.bits_per_second);
  return 2 * propagation + Duration(static_cast<std::int64_t>(wire));
}

Bottleneck::Bottleneck(const BottleneckConfig& config, int flows, const Controllers& make)
    : config_(config), prng_(config.seed), flows_(flows) {
  for (int i = 0; i < flows; ++i) flows_[i].cc = make(i);
}

Picos Bottleneck::wire_time(std::uint64_t bytes) const {
  return static_cast<Picos>(static_cast<double>(bytes) * 8e12 /
                            static_cast<double>(config_.link.bits_per_second));
}

void Bottleneck::at(Picos when, What what, const Packet& p, std::uint64_t amount) {
  events_.push(Event{when, order_++, what, p, amount});
}

void Bottleneck::offer(int flow, std::uint64_t packets, Duration start) {
  flows_[flow].wanted += packets;
  at(picos(start), What::offer, Packet{flow, false, false, false, 0}, packets);
}

void Bottleneck::run(Duration limit) {
  while (!events_.empty() && events_.top().when <= picos(limit)) {
    const Event e = events_.top();
    events_.pop();
    now_ = e.when;
    handle(e);
  }
}

void Bottleneck::handle(const Event& e) {
  Flow& f = flows_[e.packet.flow];
  switch (e.what) {
    case What::probe: return probe(e.packet);
    case What::offer: f.fresh += e.amount; break;
    case What::wake: f.wake = -1; break;
    case What::at_queue: return arrive(e.packet);
    case What::served:
      busy_ = false;
      last_busy_ = now_;
      return serve();
    case What::at_receiver: return deliver(e.packet);
    case What::cut_here:
      f.eager = std::min(f.eager + 1, config_.eager_sacks);
      return at(now_ + picos(config_.propagation), What::trim_nack, e.packet);
    case What::sack: sack(e); break;
    case What::trim_nack:
      ++f.repairs;
      f.cc->on_trim(time(), config_.link.mtu, config_.last_hop);
      break;
    case What::fabric_trim:
      ++f.repairs;
      f.cc->on_trim(time(), config_.link.mtu, false);
      break;
    case What::loss:
      ++f.repairs;
      f.cc->on_loss(time(), config_.link.mtu);
      break;
  }
  try_send(e.packet.flow);
}

void Bottleneck::try_send(int flow) {
  Flow& f = flows_[flow];
  if (f.fresh + f.repairs == 0) return;
  if (!f.cc->may_send(config_.link.mtu)) {
    // Shut, and perhaps nobody was asked to answer: the tail probe.
    f.probe = now_ + 2 * picos(config_.base_rtt());
    return at(f.probe, What::probe, Packet{flow, false, false, false, 0});
  }
  const Time paced = f.cc->next_send();
  const Picos when = std::max({now_, f.port_free, paced > time() ? picos(paced.time_since_epoch()) : 0});
  if (when == now_) return send_one(f, flow);
  if (f.wake >= 0 && f.wake <= when) return;
  f.wake = when;
  at(when, What::wake, Packet{flow, false, false, false, 0});
}

void Bottleneck::send_one(Flow& f, int flow) {
  const bool repair = f.repairs > 0;
  --(repair ? f.repairs : f.fresh);
  ++f.stats.sent;
  f.cc->on_send(time(), config_.link.mtu);
  // The A bit: at the end, when the window shuts, and four times per window.
  f.unasked += config_.link.mtu;
  const bool ask =
      f.fresh + f.repairs == 0 || !f.cc->may_send(config_.link.mtu) || f.unasked * 4 >= f.cc->window();
  if (ask) f.unasked = 0;
  f.port_free = now_ + wire_time(config_.link.mtu);
  at(f.port_free + picos(config_.propagation) / 2, What::at_queue, Packet{flow, repair, ask, false, now_});
  try_send(flow);
}

void Bottleneck::arrive(Packet p) {
  if (trim_next_ > 0)
    return --trim_next_, ++flows_[p.flow].stats.trims, at(now_ + fate_after(), What::fabric_trim, p);
  if (lose_next_ > 0)
    return --lose_next_, ++flows_[p.flow].stats.losses, at(now_ + fate_after(), What::loss, p);
  const auto limit = static_cast<std::uint64_t>(config_.queue_bdp * config_.link.bdp());
  if (data_bytes_ + config_.link.mtu > limit) return trim(p);
  p.marked = mark();
  data_.push_back(p);
  data_bytes_ += config_.link.mtu;
  serve();
}

/// RED on the queue found: from nothing at the low threshold to every packet at the high one.
bool Bottleneck::mark() {
  if (config_.last_hop) return false;
  const double depth = static_cast<double>(data_bytes_) / config_.link.bdp();
  return prng_.chance((depth - config_.mark_low_bdp) / (config_.mark_high_bdp - config_.mark_low_bdp));
}

void Bottleneck::trim(const Packet& p) {
  Flow& f = flows_[p.flow];
  if (!config_.trimming) {
    ++f.stats.losses;
    return at(p.sent + picos(config_.base_rtt()) * 2, What::loss, p);
  }
  ++f.stats.trims;
  cut_.push_back(p);
  serve();
}

/// One packet at a time; what was trimmed overtakes data.
void Bottleneck::serve() {
  if (busy_ || (cut_.empty() && data_.empty())) return;
  idle_ += now_ - last_busy_;
  busy_ = true;
  const bool cut = !cut_.empty();
  auto& queue = cut ? cut_ : data_;
  const Packet p = queue.front();
  queue.pop_front();
  if (!cut) data_bytes_ -= config_.link.mtu;
  const Picos done = now_ + wire_time(cut ? config_.trimmed_bytes : config_.link.mtu);
  at(done, What::served, p);
  const Picos there = done + picos(config_.propagation) / 2;
  if (cut)
    at(there, What::cut_here, p);
  else
    at(there, What::at_receiver, p);
}

void Bottleneck::deliver(const Packet& p) {
  Flow& f = flows_[p.flow];
  if (prng_.chance(loss_)) {
    ++f.stats.losses;
    return at(now_ + picos(config_.propagation), What::loss, p);
  }
  if (++f.stats.delivered == f.wanted) f.stats.finished = now_;
  f.unreported += config_.link.mtu;
  f.unsacked += config_.link.mtu;
  const bool eager = f.eager > 0;
  f.eager -= eager;
  if (p.ask || p.marked || p.repair || eager || f.unsacked >= config_.sack_bytes) report(p);
}

void Bottleneck::report(const Packet& p) {
  Flow& f = flows_[p.flow];
  at(now_ + picos(config_.propagation), What::sack, p, f.unreported);
  f.unreported = f.unsacked = 0;
}

void Bottleneck::probe(const Packet& p) {
  Flow& f = flows_[p.flow];
  if (f.probe == now_ && f.unreported > 0) report(Packet{p.flow, false, false, false, -1});
}

void Bottleneck::sack(const Event& e) {
  engine::Congestion::Feedback fb;
  fb.newly = e.amount;
  if (e.packet.sent >= 0) fb.rtt = Duration((now_ - e.packet.sent) / 1000);
  fb.ecn = e.packet.marked;
  fb.penalty = penalty_;
  fb.restore = restore_;
  restore_ = false;
  flows_[e.packet.flow].cc->on_sack(time(), fb);
}

}  // namespace mrc::testing
