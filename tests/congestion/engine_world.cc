#include "engine_world.h"

#include <algorithm>

#include "engine/sizes.h"

namespace mrc::testing {

namespace {

constexpr int kEvs = 16;
const PortMask kPort = PortMask::first(1);

Picos picos(Duration d) { return d.count() * 1000; }

engine::QpConfig qp_config(std::uint32_t local, std::uint32_t remote, std::span<const engine::Path> paths) {
  engine::QpConfig c;
  c.local = Qpn(local);
  c.remote = Qpn(remote);
  c.path_table = paths;
  c.seed = local;
  return c;
}

}  // namespace

EngineWorld::EngineWorld(const BottleneckConfig& config, int flows, const Bottleneck::Controllers& make)
    : config_(config), rate_(static_cast<double>(config.link.bits_per_second)) {
  for (std::uint32_t i = 1; i <= kEvs; ++i) paths_.push_back({Ev(i), PortId(1)});
  for (int i = 0; i < flows; ++i) {
    const auto tx = static_cast<std::uint32_t>(0x1000 + i), rx = static_cast<std::uint32_t>(0x8000 + i);
    flows_.push_back(std::make_unique<Flow>(qp_config(tx, rx, paths_), qp_config(rx, tx, paths_), make(i)));
    for (auto s : {engine::QpState::init, engine::QpState::rtr, engine::QpState::rts}) {
      flows_.back()->tx.modify(Time{}, s);
      flows_.back()->rx.modify(Time{}, s);
    }
  }
}

void EngineWorld::at(Picos when, What what, int flow, const wire::Packet& p, const wire::Envelope& e) {
  events_.push(Event{when, order_++, what, flow, p, e});
}

void EngineWorld::offer(int flow, std::uint32_t packets, Duration start) {
  flows_[flow]->wanted = packets;
  at(picos(start), What::offer, flow);
}

void EngineWorld::run(Duration limit) {
  while (!events_.empty() && events_.top().when <= picos(limit)) {
    Event e = events_.top();
    events_.pop();
    now_ = e.when;
    handle(e);
  }
}

void EngineWorld::handle(Event& e) {
  Flow& f = *flows_[e.flow];
  switch (e.what) {
    case What::offer: (void)f.tx.post_send(time(), {.wr_id = 1, .length = f.wanted * 4096u}); break;
    case What::wake:
      if (f.wake != now_) return;
      f.wake = -1;
      if (f.tx.next_timeout() <= time()) f.tx.handle_timeout(time());
      break;
    case What::at_queue: return arrive(e);
    case What::served:
      busy_ = false;
      last_busy_ = now_;
      return serve();
    case What::at_receiver:
      (void)f.rx.handle_packet(time(), e.packet, e.envelope, memory_);
      return drain_receiver(e.flow);
    case What::at_sender: (void)f.tx.handle_packet(time(), e.packet, e.envelope, memory_); break;
  }
  drain_sender(e.flow);
}

void EngineWorld::drain_sender(int flow) {
  Flow& f = *flows_[flow];
  engine::Transmit t;
  while (f.port_free <= now_ && f.tx.poll_transmit(time(), kPort, t)) {
    const auto* w = std::get_if<wire::Write>(&t.packet.body);
    if (w != nullptr) ++f.stats.data;
    f.port_free = now_ + wire_time(w != nullptr ? engine::cc_bytes(*w) : 120);
    at(f.port_free + picos(config_.propagation) / 2, What::at_queue, flow, t.packet, t.envelope);
  }
  engine::Completion c;
  while (f.tx.poll_completion(time(), c)) f.stats.finished = now_;
  plan_wake(flow, f.port_free);
}

/// When the port is free again, or the engine's timeout: whichever is first.
void EngineWorld::plan_wake(int flow, Picos port_free) {
  Flow& f = *flows_[flow];
  const Time timeout = f.tx.next_timeout();
  Picos when = port_free > now_ ? port_free : -1;
  if (timeout != kNever) {
    const Picos due = std::max(picos(timeout.time_since_epoch()), now_ + 1000);
    when = when < 0 ? due : std::min(when, due);
  }
  if (when < 0 || when == f.wake) return;
  f.wake = when;
  at(when, What::wake, flow);
}

void EngineWorld::drain_receiver(int flow) {
  Flow& f = *flows_[flow];
  engine::Transmit t;
  while (f.rx.poll_transmit(time(), kPort, t)) {
    f.stats.sacks += std::holds_alternative<wire::Sack>(t.packet.body);
    f.stats.nacks += std::holds_alternative<wire::Nack>(t.packet.body);
    at(now_ + picos(config_.propagation), What::at_sender, flow, t.packet, t.envelope);
  }
  engine::Completion c;
  while (f.rx.poll_completion(time(), c)) {
  }
}

void EngineWorld::arrive(Event& e) {
  const auto limit = static_cast<std::uint64_t>(config_.queue_bdp * config_.link.bdp());
  const auto* w = std::get_if<wire::Write>(&e.packet.body);
  const std::uint64_t bytes = w != nullptr ? engine::cc_bytes(*w) : 120;
  if (w != nullptr && data_bytes_ + bytes > limit) {
    const double waiting = static_cast<double>(cut_.size() + 1) * config_.trimmed_bytes;
    if (waiting > config_.cut_bdp * config_.link.bdp()) {
      ++flows_[e.flow]->stats.lost;
      return;
    }
    ++flows_[e.flow]->stats.trims;
    e.envelope.traffic_class = wire::TrafficClass::trimmed_lasthop;
    cut_.push_back(e);
  } else {
    data_bytes_ += bytes;
    data_.push_back(e);
  }
  serve();
}

void EngineWorld::serve() {
  if (busy_ || (cut_.empty() && data_.empty())) return;
  idle_ += static_cast<std::uint64_t>(now_ - last_busy_);
  busy_ = true;
  const bool cut = !cut_.empty();
  const Event e = cut ? cut_.front() : data_.front();
  (cut ? cut_ : data_).pop_front();
  const auto* w = std::get_if<wire::Write>(&e.packet.body);
  const std::uint64_t bytes = w != nullptr ? engine::cc_bytes(*w) : 120;
  if (!cut) data_bytes_ -= bytes;
  const Picos done = now_ + wire_time(cut ? config_.trimmed_bytes : static_cast<double>(bytes));
  at(done, What::served, e.flow);
  at(done + picos(config_.propagation) / 2, What::at_receiver, e.flow, e.packet, e.envelope);
}

}  // namespace mrc::testing
