// A switch in the event loop: the fabric's own switch object, brought up to date whenever a frame comes to a
// port.
//
// A port's departures are decided when something arrives for it or the window ends, never by an event of
// their own: the order of service within a window depends only on what has arrived in it, and a departure
// reaches the next node in a later window. So a frame costs one event per hop.
#pragma once

#include <span>
#include <unordered_map>
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
      : switch_(std::move(sw)), wires_(std::move(wires)), listed_(wires_.size()), random_(seed) {
    if (switch_.settings().pfc.xoff != 0) resumed_.resize(wires_.size());
  }

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
      if (t.via < kPauses) [[likely]] {
        receive(shard, t);
        continue;
      }
      const std::uint64_t word = shard.slots()[t.slot].word;
      shard.slots().give(t.slot);
      is_pause(t) ? obey(shard, t, word != 0) : on_signal(word);
    }
    return serve_until(shard, end);
  }

  /// Frames that left by any port: one per hop.
  std::uint64_t departures() const { return departures_; }

 private:
  template <class Shard>
  void receive(Shard& shard, const Transit& t) {
    Cargo& cargo = shard.slots()[t.slot];
    if (!resumed_.empty()) cargo.ingress = port_at(t.via);
    const fabric::Switch::Route route = switch_.route(cargo);
    if (!fabric::is_gone(route.fate)) serve(shard, route.port, t.when);
    const auto received = switch_.admit(route, cargo, random_);
    if (fabric::is_gone(received.fate)) {
      shard.slots().give(t.slot);
      return;
    }
    if (received.pause != fabric::Pause::none) ask(shard, cargo.ingress, received.pause, t.when);
    if (to_ps(switch_.port(route.port).free_at()) <= t.when) return depart(shard, route.port, t.when);
    list(route.port);
  }

  void list(std::uint16_t port) {
    if (listed_[port]) return;
    listed_[port] = true;
    waiting_.push_back(port);
  }

  // --- priority flow control, for baselines ---

  /// The port that a link ends at. Links of a port are numbered in pairs: the one in, the one out.
  std::uint16_t port_at(std::uint32_t hop) {
    if (port_of_.empty()) {
      for (std::size_t p = 0; p < wires_.size(); ++p) {
        if (wires_[p].connected) port_of_[wires_[p].hop ^ 1u] = static_cast<std::uint16_t>(p);
      }
    }
    return port_of_.at(hop);
  }
  /// Tells the neighbour at an ingress port to stop or to go on.
  template <class Shard>
  void ask(Shard& shard, std::uint16_t ingress, fabric::Pause pause, Ps when) {
    const std::uint32_t slot = shard.slots().take();
    shard.slots()[slot].word = pause == fabric::Pause::xoff;
    // A pause frame waits for nothing but the frame on the wire; its own 64 bytes are not counted.
    const fabric::Link& link = switch_.port(ingress);
    const Ps leaves = std::max(when, to_ps(link.free_at()));
    Ps& last = last_pause_[ingress];
    last = std::max(last + 1, leaves + link.settings().delay.count());
    shard.deliver(wires_[ingress].node, {last, pause_via(wires_[ingress].hop), slot});
  }
  template <class Shard>
  void obey(Shard& shard, const Transit& t, bool stop) {
    const std::uint16_t port = port_at(pause_hop(t));
    serve(shard, port, t.when - 1);
    if (switch_.port(port).paused() == stop) return;
    switch_.port(port).set_paused(stop);
    if (stop) return;
    resumed_[port] = t.when;
    list(port);
  }

  /// Sends what leaves the port up to and including `when`.
  template <class Shard>
  void serve(Shard& shard, std::uint16_t port, Ps when) {
    const fabric::Link& link = switch_.port(port);
    while (link.has_work() && ready_at(port) <= when) depart(shard, port, ready_at(port));
  }

  Ps ready_at(std::uint16_t port) const {
    const Ps free = to_ps(switch_.port(port).free_at());
    return resumed_.empty() ? free : std::max(free, resumed_[port]);
  }

  template <class Shard>
  void depart(Shard& shard, std::uint16_t port, Ps when) {
    const auto departed = switch_.poll(port, fabric_time(when), random_);
    if (departed.frame == nullptr) return;
    ++departures_;
    if (departed.pause != fabric::Pause::none)
      ask(shard, static_cast<Cargo*>(departed.frame)->ingress, departed.pause, when);
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
      next = std::min(next, ready_at(port));
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
  // With flow control only:
  std::vector<Ps> resumed_;  // by port: when its peer last let it go on
  std::unordered_map<std::uint32_t, std::uint16_t> port_of_;
  std::unordered_map<std::uint16_t, Ps> last_pause_;
};

}  // namespace mrc::sim
