// A switch in the event loop: the fabric's own switch object, brought up to date whenever a frame comes to a
// port.
//
// A port's departures are decided when something arrives for it or the window ends, never by an event of
// their own: the order of service within a window depends only on what has arrived in it, and a departure
// reaches the next node in a later window. So a frame costs one event per hop.
#pragma once

#include <span>
#include <vector>

#include "base/prng.h"
#include "fabric/switch.h"
#include "sim/cargo.h"
#include "sim/fabric_plan.h"
#include "sim/transit.h"

namespace mrc::sim {

constexpr fabric::PsTime fabric_time(Ps t) { return fabric::PsTime(fabric::PsDuration(t)); }
constexpr Ps to_ps(fabric::PsTime t) { return t.time_since_epoch().count(); }

class SwitchNode {
 public:
  SwitchNode(fabric::Switch sw, std::vector<Wire> wires, std::uint64_t seed)
      : switch_(std::move(sw)), wires_(std::move(wires)), listed_(wires_.size()), random_(seed) {}

  fabric::Switch& object() { return switch_; }
  const fabric::Switch& object() const { return switch_; }
  const Wire& wire(std::uint16_t port) const { return wires_[port]; }

  /// Runs through one window; see Crew for the contract. `on_signal(word)` strikes at its time.
  template <class Shard, class OnSignal>
  Ps run(Shard& shard, Ps end, std::span<const Transit> arrivals, OnSignal&& on_signal) {
    constexpr std::size_t kAhead = 6;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      if (i + kAhead < arrivals.size()) __builtin_prefetch(&shard.slots()[arrivals[i + kAhead].slot], 1);
      const Transit& t = arrivals[i];
      if (is_signal(t)) [[unlikely]] {
        on_signal(shard.slots()[t.slot].word);
        shard.slots().give(t.slot);
      } else {
        receive(shard, t);
      }
    }
    return serve_until(shard, end);
  }

  /// Frames that left by any port: one per hop.
  std::uint64_t departures() const { return departures_; }

 private:
  template <class Shard>
  void receive(Shard& shard, const Transit& t) {
    Cargo& cargo = shard.slots()[t.slot];
    const fabric::Switch::Route route = switch_.route(cargo);
    if (!fabric::is_gone(route.fate)) serve(shard, route.port, t.when);
    const auto received = switch_.admit(route, cargo, random_);
    if (fabric::is_gone(received.fate)) {
      shard.slots().give(t.slot);
      return;
    }
    if (to_ps(switch_.port(route.port).free_at()) <= t.when) return depart(shard, route.port, t.when);
    if (listed_[route.port]) return;
    listed_[route.port] = true;
    waiting_.push_back(route.port);
  }

  /// Sends what leaves the port up to and including `when`.
  template <class Shard>
  void serve(Shard& shard, std::uint16_t port, Ps when) {
    const fabric::Link& link = switch_.port(port);
    while (link.has_work() && to_ps(link.free_at()) <= when) depart(shard, port, to_ps(link.free_at()));
  }

  template <class Shard>
  void depart(Shard& shard, std::uint16_t port, Ps when) {
    const auto departed = switch_.poll(port, fabric_time(when), random_);
    if (departed.frame == nullptr) return;
    ++departures_;
    const std::uint32_t slot = static_cast<Cargo*>(departed.frame)->slot;
    if (departed.fate == fabric::Fate::passed) [[likely]] {
      shard.deliver(wires_[port].node, {to_ps(departed.arrives), wires_[port].hop, slot});
    } else {
      shard.slots().give(slot);
    }
  }

  template <class Shard>
  Ps serve_until(Shard& shard, Ps end) {
    Ps next = kNeverPs;
    std::size_t kept = 0;
    for (const std::uint16_t port : waiting_) {
      serve(shard, port, end - 1);
      if (!switch_.port(port).has_work()) {
        listed_[port] = false;
        continue;
      }
      waiting_[kept++] = port;
      next = std::min(next, to_ps(switch_.port(port).free_at()));
    }
    waiting_.resize(kept);
    return next;
  }

  fabric::Switch switch_;
  std::vector<Wire> wires_;
  std::vector<bool> listed_;            // by port: in waiting_
  std::vector<std::uint16_t> waiting_;  // ports with frames that wait for their turn
  Prng random_;
  std::uint64_t departures_ = 0;
};

}  // namespace mrc::sim
