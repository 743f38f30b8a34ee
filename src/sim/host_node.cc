#include "sim/host_node.h"

#include <algorithm>

#include "sim/switch_node.h"
#include "sim/world.h"

namespace mrc::sim {
namespace {

// A packet completes at most what is posted: 16 sends or 32 receives of one QP, and the CQ is drained after
// each.
constexpr std::uint32_t kCqEntries = 64;
constexpr std::size_t kAhead = 3;  // arrivals to prefetch

nic::NicConfig nic_config(const HostPlan& plan, Host self, nic::CongestionMaker& maker) {
  nic::NicConfig config;
  config.limits = plan.nic_limits(self);
  config.ports = PortMask::first(static_cast<int>(plan.topo.planes()));
  config.paths = plan.paths(self, self);
  config.congestion = &maker;
  if (plan.settings.traced == self) config.sink = plan.settings.sink;
  config.seed = plan.settings.seed * 0x9E3779B97F4A7C15ull + self;
  return config;  // one key secret for all: the first region has the same key everywhere
}

}  // namespace

HostNode::HostNode(HostPlan& plan, Host self)
    : plan_(plan),
      self_(self),
      starts_(plan.workload.takes_part(self)),
      cq_(kCqEntries),
      nic_(nic_config(plan, self, *this)),
      random_(plan.settings.seed + self) {
  key_ = *nic_.regions().add({.va = 0, .length = UINT64_MAX, .pd = nic::PdId(1), .remote_write = true});
  for (topo::Plane p = 0; p < plan.topo.planes(); ++p) {
    ports_.emplace_back(plan.links.host_up);
    wires_.push_back(wire_from(plan.topo, {topo::host_node(topo::HostId(self)), p}));
  }
}

Ps HostNode::run(Lane& lane, Tally& tally, Ps begin, Ps end, std::span<const Transit> arrivals) {
  lane_ = &lane;
  tally_ = &tally;
  now_ = std::max(now_, begin);
  if (starts_) {
    starts_ = false;
    plan_.workload.start(self_, *this);
    --tally.pending;
    pump();
  }
  std::size_t next = 0;
  Ps local = next_local();
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
      const Transit& t = arrivals[next++];
      is_signal(t) ? hear(t) : arrive(t);
    } else {
      fire_timers();
      if (to_ps(nic_.next_timeout()) <= now_) nic_.handle_timeout(engine_time(now_));
    }
    pump();
    local = next_local();
  }
}

Ps HostNode::next_local() const {
  Ps next = to_ps(nic_.next_timeout());
  if (!timers_.empty()) next = std::min(next, timers_.front().when);
  if (wants_port_) {
    for (const fabric::Link& link : ports_) {
      if (to_ps(link.free_at()) > now_) next = std::min(next, to_ps(link.free_at()));
    }
  }
  return next;
}

void HostNode::arrive(const Transit& t) {
  Cargo& cargo = lane_->slots()[t.slot];
  wire::Packet& packet = cargo.packet;
  const wire::Envelope envelope{Ev(cargo.entropy), PortId(static_cast<std::uint8_t>(cargo.reserved)),
                                cargo.traffic_class, cargo.ecn};
  if (packet.dqpn != kEndpointQpn) {
    // A pair's QPs are numbered alike at both ends of the wire; here they get the numbers that this NIC gave
    // them.
    const std::uint32_t qp = packet.dqpn.value - kQps;
    packet.dqpn = connection_to(cargo.source).qps[qp].qp->qpn;
  }
  const Verdict verdict = nic_.handle(engine_time(t.when), packet, envelope, gid_of(cargo.source), {});
  if (verdict == Verdict::ok) {
    if (const auto* write = std::get_if<wire::Write>(&packet.body)) tally_->delivered += write->payload;
  }
  lane_->slots().give(t.slot);
}

PortMask HostNode::ports_with_room() const {
  PortMask room;
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    if (to_ps(ports_[p].free_at()) <= now_) room.add(PortId(static_cast<std::uint8_t>(p + 1)));
  }
  return room;
}

void HostNode::pump() {
  nic::Departure departure;
  PortMask room;
  do {
    room = ports_with_room();
    while (nic_.poll_transmit(engine_time(now_), room, departure)) {
      emit(departure);
      const PortId port = departure.transmit.envelope.port;
      if (to_ps(ports_[port.value - 1u].free_at()) > now_) room.remove(port);
    }
  } while (drain_completions());
  wants_port_ = room.empty() || nic_.wants_port();
}

void HostNode::emit(const nic::Departure& d) {
  const wire::Packet& packet = d.transmit.packet;
  const wire::Envelope& envelope = d.transmit.envelope;
  const Host destination = host_of(d.to);
  const std::uint32_t slot = lane_->slots().take();
  Cargo& cargo = *new (&lane_->slots()[slot]) Cargo;
  cargo.slot = slot;
  cargo.source = self_;
  cargo.packet = packet;
  cargo.bytes = datagram_bytes(packet) + plan_.settings.encapsulation.overhead();
  cargo.traffic_class = envelope.traffic_class;
  cargo.ecn = envelope.ecn;
  cargo.reserved = envelope.port.value;
  cargo.entropy = envelope.ev.value;
  cargo.flow = self_ * 0x9E3779B1u ^ destination;
  const auto choice = plan_.topo.choice(envelope.ev);
  write_route(plan_.topo, topo::HostId(self_), topo::HostId(destination), choice.value_or(topo::Choice{}),
              cargo);

  ++tally_->packets;
  if (const auto* write = std::get_if<wire::Write>(&packet.body)) {
    ++tally_->data_packets;
    tally_->repairs += write->retransmitted;
  }
  const std::size_t plane = envelope.port.value - 1u;
  fabric::Link& link = ports_[plane];
  if (fabric::is_gone(link.offer(cargo, random_))) return lane_->slots().give(slot);
  const auto departed = link.poll(fabric_time(now_), random_);
  if (departed.frame == nullptr || departed.fate != fabric::Fate::passed) return lane_->slots().give(slot);
  lane_->deliver(wires_[plane].node, {to_ps(departed.arrives), wires_[plane].hop, slot});
}

}  // namespace mrc::sim
