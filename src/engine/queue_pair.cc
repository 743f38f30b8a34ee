#include "engine/queue_pair.h"

#include <cerrno>
#include <memory>

namespace mrc::engine {

QueuePair::QueuePair(const QpConfig& config, Congestion& congestion, RecordPool& pool, EventSink* sink)
    : say_(sink, config.local),
      paths_(config.path_table, config.paths, config.seed, say_),
      requestor_(config.remote, config.send_psn, config.limits, config.requestor, paths_, congestion, pool,
                 say_),
      responder_(config.local, config.remote, config.receive_psn, config.limits, config.responder, say_,
                 congestion, config.incoming) {}

int QueuePair::modify(Time now, QpState next) {
  const bool forward = next == QpState::error || static_cast<int>(next) == static_cast<int>(state_) + 1;
  if (!forward || state_ == QpState::error) return next == state_ ? 0 : EINVAL;
  enter(now, next);
  return 0;
}

int QueuePair::prepare_send(Psn first, const QpLimits& limits, const RequestorSettings& settings,
                            Congestion& congestion, RecordPool& pool) {
  if (state_ != QpState::rtr) return EINVAL;
  // Nothing was posted or sent yet, so a new requestor in its place is as good as the old one.
  const Qpn remote = requestor_.remote();
  std::destroy_at(&requestor_);
  std::construct_at(&requestor_, remote, first, limits, settings, paths_, congestion, pool, say_);
  return 0;
}

void QueuePair::enter(Time now, QpState next) {
  if (next == state_) return;
  const QpState from = state_;
  state_ = next;
  if (next == QpState::error) {
    requestor_.fail(WorkStatus::flushed);
    requestor_.abandon(now);
    responder_.flush();
  }
  if (next == QpState::rts) requestor_.start(now);
  say_(now, StateChanged{from, next});
}

QueuePair::Posted QueuePair::post_send(Time now, const SendWork& work) {
  if (state_ != QpState::rts && state_ != QpState::error) return {.error = EINVAL};
  if (requestor_.full()) return {.error = ENOMEM};
  return {.work = requestor_.post(now, work)};
}

int QueuePair::post_receive(std::uint64_t wr_id) {
  if (state_ == QpState::reset) return EINVAL;
  return responder_.post_receive(wr_id) ? 0 : ENOMEM;
}

Verdict QueuePair::handle_packet(Time now, const wire::Packet& packet, const wire::Envelope& envelope,
                                 Memory& memory) {
  if ((packet.pkey & 0x7FFF) != 0x7FFF) return Verdict::bad_pkey;
  if (state_ == QpState::error) {
    if (std::holds_alternative<wire::Write>(packet.body)) responder_.repeat_nak();
    return Verdict::wrong_state;
  }
  if (state_ != QpState::rtr && state_ != QpState::rts) return Verdict::wrong_state;
  const Verdict verdict = dispatch(now, packet, envelope, memory);
  settle_state(now);
  return verdict;
}

Verdict QueuePair::dispatch(Time now, const wire::Packet& packet, const wire::Envelope& envelope,
                            Memory& memory) {
  paths_.note_arrival(now, envelope.port);
  if (const auto* write = std::get_if<wire::Write>(&packet.body)) {
    if (state_ == QpState::rts) requestor_.note_receiving(now, responder_.nic());
    return wire::is_trimmed(envelope.traffic_class)
               ? responder_.on_trimmed(now, packet.psn, *write, envelope)
               : responder_.on_write(now, packet.psn, *write, envelope, memory);
  }
  if (const auto* probe = std::get_if<wire::Probe>(&packet.body)) {
    responder_.on_probe(now, *probe, envelope);
    // No data comes, so nothing else would ask whether our answers get through.
    if (state_ == QpState::rts && paths_.doubts_answers())
      requestor_.note_receiving(now, responder_.nic(), paths_.is_torn());
    return Verdict::ok;
  }
  if (state_ != QpState::rts) return Verdict::wrong_state;  // what follows answers things that we sent
  if (const auto* sack = std::get_if<wire::Sack>(&packet.body)) return requestor_.on_sack(now, *sack);
  if (const auto* nack = std::get_if<wire::Nack>(&packet.body)) return requestor_.on_nack(now, *nack);
  if (const auto* ack = std::get_if<wire::TransportAck>(&packet.body))
    return requestor_.on_transport_ack(now, *ack);
  return Verdict::bad_field;  // endpoint operations belong to QP 2
}

/// Either half may have found a reason to give up.
void QueuePair::settle_state(Time now) {
  if (requestor_.failure() || responder_.failed()) enter(now, QpState::error);
}

void QueuePair::handle_timeout(Time now) {
  if (state_ != QpState::rts) return;
  requestor_.handle_timeout(now);
  settle_state(now);
}

std::optional<PortId> QueuePair::poll_given_up_plane() { return paths_.poll_given_up(); }

void QueuePair::handle_ev_doubt(Time now, EvSlot s) {
  if (state_ == QpState::rts) requestor_.doubt_ev(now, s);
}

void QueuePair::handle_plane_doubt(Time now, PortId port) {
  if (state_ == QpState::rts) requestor_.doubt_plane(now, port);
}

void QueuePair::handle_port(Time now, PortId port, bool up) {
  paths_.set_port(now, port, up);
  requestor_.note_ports(now);
}

void QueuePair::handle_peer_ports(Time now, PortMask up) {
  paths_.set_peer_ports(now, up);
  requestor_.note_ports(now);
}

bool QueuePair::set_ev_state(Time now, EvSlot slot, EvState state) {
  return paths_.set_state(now, slot, state);
}

void QueuePair::handle_local_error(Time now, std::uint16_t) {
  requestor_.fail(WorkStatus::local_protection_error);
  settle_state(now);
}

bool QueuePair::poll_transmit(Time now, PortMask room, Transmit& out, bool may_ask) {
  if (state_ == QpState::reset || state_ == QpState::init) return false;
  if (responder_.has_control()) {
    // A SACK and the Transport ACK behind it are one send for the host, and one fate.
    const auto slot = paths_.choose_control(room, more_control_, responder_.answers());
    if (slot && responder_.poll_control(now, out.packet)) {
      more_control_ = responder_.has_control();
      const Path& path = paths_.path(*slot);
      out.slot = *slot;
      out.envelope = {.ev = path.ev, .port = path.port, .traffic_class = wire::TrafficClass::control};
      return true;
    }
  }
  return state_ == QpState::rts && requestor_.poll_transmit(now, room, out, may_ask);
}

bool QueuePair::poll_completion(Time now, Completion& out) {
  if (requestor_.poll_completion(out)) return true;
  const bool more = responder_.poll_completion(out);
  settle_state(now);
  return more;
}

Time QueuePair::next_timeout() const { return state_ == QpState::rts ? requestor_.next_timeout() : kNever; }

}  // namespace mrc::engine
