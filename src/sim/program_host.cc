#include "sim/program_host.h"

#include <algorithm>

#include "sim/switch_node.h"
#include "sim/world.h"

namespace mrc::sim {
namespace {

constexpr std::size_t kAhead = 3;  // arrivals to prefetch

}  // namespace

ProgramHost::ProgramHost(HostPlan& plan, Host self)
    : plan_(plan), self_(self), random_(plan.settings.seed + self), starts_(plan.workload.takes_part(self)) {
  for (topo::Plane p = 0; p < plan.topo.planes(); ++p) {
    ports_.emplace_back(plan.links.host_up);
    wires_.push_back(wire_from(plan.topo, {topo::host_node(topo::HostId(self)), p}));
  }
}

Ps ProgramHost::run(Lane& lane, Tally& tally, Ps begin, Ps end, std::span<const Transit> arrivals) {
  lane_ = &lane;
  tally_ = &tally;
  Ps local =
      next_local();  // before time moves: a port may be free from the very moment at which a window begins
  now_ = std::max(now_, begin);
  if (starts_) {
    starts_ = false;
    plan_.workload.start(self_, *this);
    --tally.pending;
    pump();
    local = next_local();
  }
  std::size_t next = 0;
  for (;;) {
    const Ps arrival = next < arrivals.size() ? arrivals[next].when : kNeverPs;
    if (std::min(arrival, local) >= end) return local;
    now_ = std::max(now_, std::min(arrival, local));
    if (arrival <= now_) {
      if (next + kAhead < arrivals.size()) {
        const Cargo& soon = lane.slots()[arrivals[next + kAhead].slot];
        __builtin_prefetch(&soon);
        __builtin_prefetch(&soon.packet);
      }
      take(arrivals[next++]);
    } else {
      fire_timers();
      handle_timeout();
    }
    pump();
    local = next_local();
  }
}

void ProgramHost::take(const Transit& t) {
  if (is_pause(t)) [[unlikely]] {
    const topo::Attachment at = plan_.topo.receiver(topo::hop_at(pause_hop(t)));
    ports_[at.port].set_paused(lane_->slots()[t.slot].word != 0);
    return lane_->slots().give(t.slot);
  }
  is_signal(t) ? hear(t) : arrive(t);
}

Ps ProgramHost::next_local() const {
  const Ps next = next_transport();
  return timers_.empty() ? next : std::min(next, timers_.front().when);
}

Ps ProgramHost::next_free_port() const {
  Ps next = kNeverPs;
  for (const fabric::Link& link : ports_) {
    if (to_ps(link.free_at()) > now_) next = std::min(next, to_ps(link.free_at()));
  }
  return next;
}

void ProgramHost::wait(Ps delay, std::uint64_t token) {
  ++tally_->pending;
  const Ps when = delay < kNeverPs - now_ ? now_ + delay : kNeverPs;  // beyond all time: it never comes
  timers_.push_back({when, timer_order_++, token, false});
  std::push_heap(timers_.begin(), timers_.end());
}

void ProgramHost::signal(Host host, std::uint64_t word) {
  ++tally_->pending;
  if (host == self_) {
    timers_.push_back({now_, timer_order_++, word, true});
    std::push_heap(timers_.begin(), timers_.end());
    return;
  }
  deliver_word(host, word, kProgramWord);
}

void ProgramHost::signal_transport(Host host, std::uint64_t word) {
  deliver_word(host, word, kTransportWord);
}

void ProgramHost::deliver_word(Host host, std::uint64_t word, std::uint32_t kind) {
  last_signal_ = std::max(last_signal_ + 1, now_ + plan_.signal_delay);  // one of a sender arrives at a time
  const std::uint32_t slot = lane_->slots().take();
  lane_->slots()[slot].word = word;
  lane_->slots()[slot].source = kind;
  lane_->deliver(host, {last_signal_, signal_via(self_), slot});
}

void ProgramHost::fire_timers() {
  while (!timers_.empty() && timers_.front().when <= now_) {
    std::pop_heap(timers_.begin(), timers_.end());
    const Timer due = timers_.back();
    timers_.pop_back();
    --tally_->pending;
    due.signal ? plan_.workload.on_signal(self_, due.token, *this)
               : plan_.workload.on_timer(self_, due.token, *this);
  }
}

void ProgramHost::hear(const Transit& t) {
  const std::uint64_t word = lane_->slots()[t.slot].word;
  const std::uint32_t kind = lane_->slots()[t.slot].source;
  const std::uint32_t from = signal_sender(t);
  lane_->slots().give(t.slot);
  if (from >= plan_.topo.hosts())
    return lane_->model().strike(*this, self_, static_cast<std::uint32_t>(word), now_);
  if (kind == kTransportWord) return hear_transport(from, word);
  --tally_->pending;
  plan_.workload.on_signal(self_, word, *this);
}

}  // namespace mrc::sim
