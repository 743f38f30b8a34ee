#include "sim/host_node.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "sim/switch_node.h"
#include "sim/world.h"

namespace mrc::sim {
namespace {

// A packet completes at most what is posted: 16 sends or 32 receives of one QP, and the CQ is drained after
// each.
constexpr std::uint32_t kCqEntries = 64;

nic::NicConfig nic_config(const HostPlan& plan, Host self, nic::CongestionMaker& maker) {
  nic::NicConfig config;
  config.limits = plan.nic_limits(self);
  config.ports = PortMask::first(static_cast<int>(plan.topo.planes()));
  config.paths = plan.paths(self);
  config.congestion = &maker;
  if (plan.settings.traced == self) config.sink = plan.settings.sink;
  config.seed = plan.settings.seed * 0x9E3779B97F4A7C15ull + self;
  return config;  // one key secret for all: the first region has the same key everywhere
}

}  // namespace

HostNode::HostNode(HostPlan& plan, Host self)
    : ProgramHost(plan, self), cq_(kCqEntries), nic_(nic_config(plan, self, *this)) {
  key_ = *nic_.regions().add({.va = 0, .length = UINT64_MAX, .pd = nic::PdId(1), .remote_write = true});
}

void HostNode::handle_timeout() {
  retire_idle();
  open_due();
  if (to_ps(nic_.next_timeout()) > now_) return;
  make_room_for_failures();
  nic_.handle_timeout(engine_time(now_));
}

// QPs that give up at one moment flush all that was posted to them. None does before its first ACK timeout,
// which most runs never see: until then a small queue is enough.
void HostNode::make_room_for_failures() {
  const HostSettings& s = plan_.settings;
  if (now_ < Ps{1024} * kPsPerNs << s.requestor.timeout) return;
  const std::size_t posted = connections_.size() * s.qps_per_pair * (s.send_depth + s.recv_depth);
  if (posted > cq_.capacity()) MRC_CHECK(cq_.resize(std::bit_ceil(static_cast<std::uint32_t>(posted))));
}

Ps HostNode::next_transport() const {
  Ps next = to_ps(nic_.next_timeout());
  if (!opening_.empty()) next = std::min(next, opening_.front().until);
  if (!resting_.empty()) next = std::min(next, resting_.front().until);
  return wants_port_ ? std::min(next, next_free_port()) : next;
}

void HostNode::arrive(const Transit& t) {
  Cargo& cargo = lane_->slots()[t.slot];
  wire::Packet& packet = cargo.packet;
  wire::Envelope envelope{Ev(cargo.entropy), PortId(static_cast<std::uint8_t>(cargo.reserved)),
                          cargo.traffic_class, cargo.ecn};
  if (plan_.wire != nullptr) [[unlikely]] {
    const auto arrived = plan_.wire->take(cargo);
    if (!arrived) return lane_->slots().give(t.slot);
    packet = arrived->packet;
    const PortId port = envelope.port;
    envelope = arrived->envelope;
    envelope.port = port;
  }
  if (packet.dqpn != kEndpointQpn && !localise(cargo)) return lane_->slots().give(t.slot);
  const Verdict verdict = nic_.handle(engine_time(t.when), packet, envelope, gid_of(cargo.source), {});
  if (verdict == Verdict::ok) {
    if (const auto* write = std::get_if<wire::Write>(&packet.body)) tally_->delivered += write->payload;
  }
  lane_->slots().give(t.slot);
}

/// A pair's QPs are numbered alike at both ends of the wire; here they get the numbers that this NIC gave
/// them. False: it belongs to QPs that have been retired.
bool HostNode::localise(Cargo& cargo) {
  const std::uint32_t number = cargo.packet.dqpn.value - kQps, per_pair = plan_.settings.qps_per_pair;
  Connection& c = connection_to(cargo.source);
  if (number / per_pair != c.generation) return false;
  revive(c);
  cargo.packet.dqpn = c.qps[number % per_pair].qp->qpn;
  return true;
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
  const topo::Choice choice = plan_.topo.choice(envelope.ev).value_or(topo::Choice{});
  write_route(plan_.topo, topo::HostId(self_), topo::HostId(destination), choice, cargo);
  if (plan_.wire != nullptr) [[unlikely]]
    plan_.wire->put(cargo, envelope, destination, choice);

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
