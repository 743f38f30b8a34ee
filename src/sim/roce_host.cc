#include "sim/roce_host.h"

#include <algorithm>

#include "sim/carriage.h"
#include "sim/switch_node.h"
#include "sim/world.h"

namespace mrc::sim {
namespace {

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 31) * 0x7fb5d329728ea185;
  x = (x ^ x >> 27) * 0x81dadef4bc2dd44d;
  return x ^ x >> 33;
}

}  // namespace

RoceHost::RoceHost(HostPlan& plan, Host self)
    : ProgramHost(plan, self), settings_(plan.settings.roce), outlets_(plan.topo.planes()) {}

// Both ends know the pair's QPs by their place; a QP's port and its ECMP hash are the luck of a draw.
RoceHost::Connection& RoceHost::connection_to(Host peer) {
  const std::uint32_t found = by_peer_.find(peer);
  if (found != PeerMap::kNone) return connections_[found];
  by_peer_.add(peer, static_cast<std::uint32_t>(connections_.size()));
  Connection& c = connections_.emplace_back();
  c.peer = peer;
  c.first_qp = static_cast<std::uint32_t>(qps_.size());
  const auto line_rate = static_cast<double>(plan_.topo.spec().host_link.bits_per_second);
  for (std::uint16_t q = 0; q < settings_.qps; ++q) {
    const std::uint64_t draw = mix(plan_.settings.seed ^ (mix(std::uint64_t{self_} << 32 | peer) + q));
    qps_.push_back({RoceSender(settings_, plan_.settings.path_mtu, line_rate), RoceReceiver(settings_),
                    static_cast<std::uint32_t>(connections_.size() - 1), q,
                    static_cast<topo::Plane>(draw % plan_.topo.planes()),
                    static_cast<std::uint32_t>(draw >> 32 & 0x3FFF) | 0xC000u});
  }
  return c;
}

std::vector<QpCount> RoceHost::qp_counts() {
  std::vector<QpCount> out;
  for (const Qp& qp : qps_) out.push_back(qp.sender.count());
  return out;
}

// Part i of a message travels on the pair's QP i; parts are whole packets, as even as that allows.
void RoceHost::send(const Message& message) {
  Connection& c = connection_to(message.peer);
  const std::uint64_t mtu = plan_.settings.path_mtu;
  const std::uint64_t packets = std::max<std::uint64_t>((message.bytes + mtu - 1) / mtu, 1);
  const auto parts = static_cast<std::uint16_t>(std::min<std::uint64_t>(packets, settings_.qps));
  log_.sent.push_back({message.peer, c.next_sequence, message.flow, message.tag, message.bytes, now_});
  const auto sending = static_cast<std::uint32_t>(sending_.size());
  sending_.push_back({message, static_cast<std::uint32_t>(log_.sent.size() - 1), parts});
  tally_->pending += 2;  // it will be acknowledged here and received there
  std::uint64_t at = 0;
  for (std::uint16_t p = 0; p < parts; ++p) {
    const std::uint64_t end = std::min(message.bytes, packets * (p + 1u) / parts * mtu);
    const std::uint32_t qp = c.first_qp + p;
    qps_[qp].sender.post(now_, {sending, c.next_sequence, message.tag, parts, end - at, 0, 0});
    at = end;
    queue(qp);
    watch(qp);
    drain(qps_[qp]);
  }
  ++c.next_sequence;
}

void RoceHost::queue(std::uint32_t index) {
  Qp& qp = qps_[index];
  if (qp.queued || !qp.sender.has_work()) return;
  qp.queued = true;
  Outlet& outlet = outlets_[qp.plane];
  if (qp.sender.ready_at() <= now_) return outlet.ready.push_back(index);
  outlet.paced.push_back({qp.sender.ready_at(), index});
  std::push_heap(outlet.paced.begin(), outlet.paced.end());
}

void RoceHost::watch(std::uint32_t index) {
  Qp& qp = qps_[index];
  if (qp.timed || !qp.sender.outstanding()) return;
  qp.timed = true;
  timeouts_.push_back({qp.sender.timeout_at(), index});
  std::push_heap(timeouts_.begin(), timeouts_.end());
}

void RoceHost::drain(Qp& qp) {
  while (const auto done = qp.sender.poll_done()) finish(*done, false);
  while (const auto lost = qp.sender.poll_lost()) finish(*lost, true);
}

void RoceHost::finish(const RocePart& part, bool failed) {
  SentRecord& record = log_.sent[sending_[part.sending].record];
  record.failed = record.failed || failed;
  if (--sending_[part.sending].open_parts > 0) return;
  record.acknowledged = now_;
  --tally_->pending;
  if (record.failed) {
    ++tally_->failed;
    return;
  }
  const Message message = sending_[part.sending].message;
  plan_.workload.on_sent(self_, message, *this);
}

void RoceHost::handle_timeout() {
  while (!timeouts_.empty() && timeouts_.front().when <= now_) {
    std::pop_heap(timeouts_.begin(), timeouts_.end());
    const std::uint32_t index = timeouts_.back().qp;
    timeouts_.pop_back();
    qps_[index].timed = false;
    qps_[index].sender.handle_timeout(now_);
    drain(qps_[index]);
    queue(index);
    watch(index);
  }
}

void RoceHost::arrive(const Transit& t) {
  const Cargo& cargo = lane_->slots()[t.slot];
  const RocePacket packet = roce_of(cargo);
  const bool marked = cargo.ecn == wire::Ecn::ce;
  const auto plane = static_cast<topo::Plane>(cargo.reserved);
  Connection& c = connection_to(cargo.source);
  lane_->slots().give(t.slot);
  const std::uint32_t index = c.first_qp + packet.qp;
  Qp& qp = qps_[index];
  switch (packet.kind) {
    case RocePacket::Kind::data: return on_data(c, qp, packet, marked, plane);
    case RocePacket::Kind::ack: qp.sender.on_ack(now_, packet.psn); break;
    case RocePacket::Kind::nak: qp.sender.on_nak(now_, packet.psn); break;
    case RocePacket::Kind::cnp: qp.sender.on_cnp(now_); break;
  }
  drain(qp);
  queue(index);
}

void RoceHost::on_data(Connection& c, Qp& qp, const RocePacket& packet, bool marked, topo::Plane plane) {
  const RoceReceiver::Verdict verdict = qp.receiver.on_data(now_, packet, marked);
  RocePacket answer;
  answer.qp = packet.qp;
  answer.psn = qp.receiver.expected();
  if (verdict.notify) {
    answer.kind = RocePacket::Kind::cnp;
    outlets_[plane].answers.push_back({c.peer, answer, qp.entropy});
  }
  if (verdict.answer) {
    answer.kind = *verdict.answer;
    outlets_[plane].answers.push_back({c.peer, answer, qp.entropy});
  }
  if (!verdict.accepted) return;
  tally_->delivered += packet.payload;
  if (packet.ends) note_part(c, packet);
}

void RoceHost::note_part(Connection& c, const RocePacket& packet) {
  const std::size_t ahead = packet.sequence - c.received;
  if (c.incoming.size() <= ahead) c.incoming.resize(ahead + 1);
  Incoming& message = c.incoming[ahead];
  message.parts = packet.parts;
  message.tag = packet.tag;
  ++message.arrived;
  while (!c.incoming.empty() && c.incoming.front().parts != 0 &&
         c.incoming.front().arrived == c.incoming.front().parts) {
    const std::uint32_t tag = c.incoming.front().tag;
    c.incoming.pop_front();
    log_.received.push_back({c.peer, c.received++, now_});
    --tally_->pending;
    plan_.workload.on_received(self_, c.peer, tag, *this);
  }
}

void RoceHost::pump() {
  for (topo::Plane plane = 0; plane < ports_.size(); ++plane) {
    while (to_ps(ports_[plane].free_at()) <= now_ && send_one(plane)) {
    }
  }
}

bool RoceHost::send_one(topo::Plane plane) {
  Outlet& outlet = outlets_[plane];
  if (!outlet.answers.empty()) {
    const Answer answer = outlet.answers.front();
    outlet.answers.pop_front();
    emit(answer.to, plane, answer.packet, answer.entropy, false);
    return true;
  }
  if (ports_[plane].paused()) return false;
  while (!outlet.paced.empty() && outlet.paced.front().when <= now_) {
    outlet.ready.push_back(outlet.paced.front().qp);
    std::pop_heap(outlet.paced.begin(), outlet.paced.end());
    outlet.paced.pop_back();
  }
  while (!outlet.ready.empty()) {
    const std::uint32_t index = outlet.ready.front();
    outlet.ready.pop_front();
    Qp& qp = qps_[index];
    qp.queued = false;
    if (!qp.sender.has_work()) continue;
    RoceSender::Sent sent = qp.sender.send(now_);
    sent.packet.qp = qp.place;
    emit(connections_[qp.connection].peer, plane, sent.packet, qp.entropy, sent.repair);
    queue(index);
    return true;
  }
  return false;
}

Ps RoceHost::next_transport() const {
  Ps next = timeouts_.empty() ? kNeverPs : timeouts_.front().when;
  for (topo::Plane plane = 0; plane < ports_.size(); ++plane) {
    const Outlet& outlet = outlets_[plane];
    const bool held = ports_[plane].paused();
    Ps ready = kNeverPs;
    if (!outlet.answers.empty() || (!held && !outlet.ready.empty())) ready = now_ + 1;
    if (!held && !outlet.paced.empty()) ready = std::min(ready, outlet.paced.front().when);
    if (ready != kNeverPs) next = std::min(next, std::max(ready, to_ps(ports_[plane].free_at())));
  }
  return next;
}

void RoceHost::emit(Host to, topo::Plane plane, const RocePacket& packet, std::uint32_t entropy,
                    bool repair) {
  const bool data = packet.kind == RocePacket::Kind::data;
  const std::uint32_t slot = lane_->slots().take();
  Cargo& cargo = *new (&lane_->slots()[slot]) Cargo;
  cargo.slot = slot;
  cargo.source = self_;
  put_roce(cargo, packet);
  cargo.bytes = roce_frame_bytes(packet);
  cargo.traffic_class = data ? wire::TrafficClass::no_trim : wire::TrafficClass::control;
  cargo.ecn = data ? wire::Ecn::ect0 : wire::Ecn::not_ect;
  cargo.reserved = static_cast<std::uint16_t>(plane);
  cargo.entropy = entropy;
  cargo.flow = self_ * 0x9E3779B1u ^ to;
  write_route(plan_.topo, topo::HostId(self_), topo::HostId(to), topo::Choice{plane}, cargo);
  ++tally_->packets;
  tally_->data_packets += data;
  tally_->repairs += repair;
  fabric::Link& link = ports_[plane];
  if (fabric::is_gone(link.offer(cargo, random_))) return lane_->slots().give(slot);
  const auto departed = link.poll(fabric_time(now_), random_);
  if (departed.frame == nullptr || departed.fate != fabric::Fate::passed) return lane_->slots().give(slot);
  lane_->deliver(wires_[plane].node, {to_ps(departed.arrives), wires_[plane].hop, slot});
}

}  // namespace mrc::sim
