// What follows from inputs: completions, timers, and the next packet to leave.
#include <algorithm>

#include "nic/nic.h"

namespace mrc::nic {

using engine::QpState;

namespace {

// MRC-NIC-013: the QP's own class is for its data and for the probes that stand for data; control packets and
// repairs have classes of their own.
bool keeps_qp_class(wire::TrafficClass c) {
  return c == wire::TrafficClass::trimmable || c == wire::TrafficClass::no_trim;
}

}  // namespace

void Nic::settle(Time now) {
  while (!touched_.empty()) settle(now, touched_.pop_front());
}

void Nic::settle(Time now, Qp& qp) {
  engine::Completion done;
  while (qp.engine->poll_completion(now, done)) complete(now, qp, done);
  if (qp.engine->state() == QpState::error && qp.state != QpState::error) {
    qp.state = QpState::error;
    observer_.on_qp_error(qp);
  }
  if (const auto port = qp.engine->poll_given_up_plane()) share_doubt(now, qp, *port);
  if (const auto ev = qp.engine->poll_silent_ev()) share_doubt(now, qp, *ev);
  timers_.arm(qp, qp.engine->next_timeout());
  if (qp.engine->responder().has_control()) scheduler_.control.push_back(qp);
  // Those who waited for the window or for records stand before the one whose packet opened it: else a QP
  // with packets in flight would take every place that its own SACKs free.
  wake(*qp.context);
  wake_for_records();
  queue(qp);
}

/// Who waits for the window keeps its place, whatever it hears meanwhile: what opens the window wakes the
/// first.
void Nic::queue(Qp& qp) {
  const Link<WaitTag>& wait = qp;
  if (!qp.engine->has_data()) {
    leave_turn(qp);
  } else if (!wait.linked() || qp.engine->requestor().is_urgent()) {
    scheduler_.make_ready(qp);
  }
}

/// A plane that is silent for one QP is asked by the others to that peer before they lose packets to it. They
/// reach the same verdict a moment later, which is no news then.
void Nic::share_doubt(Time now, Qp& knows, PortId port) {
  Peer& peer = *knows.peer;
  if (now < peer.doubt_again && peer.doubted == port) return;
  peer.doubted = port;
  peer.doubt_again = now + config_.probes.doubt_interval;
  peer.qps.for_each([&](Qp& qp) {
    if (&qp == &knows || !qp.engine) return;
    qp.engine->handle_plane_doubt(now, port);
    touch(qp);
  });
}

/// So is an EV, which takes the same way for all QPs to that peer that have the same table. Those who were
/// told do not tell again.
void Nic::share_doubt(Time now, Qp& knows, EvSlot ev) {
  knows.peer->qps.for_each([&](Qp& qp) {
    if (&qp == &knows || !qp.engine || qp.paths != knows.paths) return;
    qp.engine->handle_ev_doubt(now, ev);
    touch(qp);
  });
}

void Nic::complete(Time now, Qp& qp, const engine::Completion& done) {
  const bool is_send = done.kind == engine::CompletionKind::send;
  CompletionQueue* cq = is_send ? qp.made.send_cq : qp.made.recv_cq;
  if (cq == nullptr) return;
  const bool was_overrun = cq->overrun();
  Cqe entry{done.wr_id,  qp.qpn,       done.length, done.imm,     done.kind,
            done.status, done.has_imm, done.tag,    qp.made.owner};
  if (entry.tag != 0 && !observer_.on_tagged(qp, entry)) return;
  // An armed waiter for solicited completions is woken by errors too, as verbs have it.
  switch (cq->push(entry, done.solicited || done.status != engine::WorkStatus::success)) {
    case CompletionQueue::Push::quiet: break;
    case CompletionQueue::Push::notify: observer_.on_cq_notify(*cq); break;
    case CompletionQueue::Push::overrun:
      if (!was_overrun) observer_.on_cq_overrun(*cq);
      if (qp.engine) qp.engine->modify(now, QpState::error);
      break;
  }
}

/// As many waiters as the window has room for now, less what others were woken for: whoever is woken in vain
/// loses its place, and the time to fetch it from memory. Each wakes the next when it can't use its turn.
void Nic::wake(CongestionContext& context) {
  if (context.waiting.empty()) return;
  while (!context.waiting.empty()) {
    Qp& qp = context.waiting.next(config_.scheduler);
    const std::uint32_t wants = qp.engine->requestor().wants();
    if (!context.congestion->may_send(context.promised + wants)) {
      if (std::exchange(context.next, &qp) != &qp) qp.prefetch();
      break;
    }
    scheduler_.make_ready(qp);
    qp.promised = wants;
    context.promised += wants;
    context.moved = true;
  }
}

void Nic::wake_for_records() {
  for (std::size_t slabs = pool_.free_slabs(); slabs > 0 && !starved_.empty(); --slabs) {
    scheduler_.make_ready(starved_.next(config_.scheduler));
  }
}

/// A QP that sends packet after packet is settled when its run ends: what settling does (completions, timers,
/// waiters) does not follow from sending, except for the timers, and those are only asked for afterwards.
bool Nic::poll_transmit(Time now, PortMask room, Departure& out) {
  settle(now);
  if (!asking_.empty()) wake_askers(now);
  room = room & up_;
  const bool sent = !room.empty() && (send_endpoint(now, room, out) || send_control(now, room, out) ||
                                      send_data(now, room, out));
  if (!sent) {
    end_run();
    settle(now);
  }
  return sent;
}

bool Nic::poll_data(Time now, PortMask room, Departure& out) {
  settle(now);
  room = room & up_;
  if (!room.empty() && (send_endpoint(now, room, out) || send_data(now, room, out, false))) return true;
  end_run();
  settle(now);
  return false;
}

void Nic::end_run() {
  if (sending_ != nullptr) touch(*sending_);
  sending_ = nullptr;
}

bool Nic::send_endpoint(Time now, PortMask room, Departure& out) {
  if (!endpoint_.wants_to_send()) return false;
  EndpointPacket packet;
  if (!endpoint_.poll_transmit(now, room, up_, packet)) return false;
  out.transmit.packet = packet.packet;
  out.transmit.envelope = packet.envelope;
  out.to = packet.to;
  out.peer = kNoPeer;
  out.dscp = packet.dscp;
  out.carrier = nullptr;
  out.payload.count = 0;
  return true;
}

// MRC-NIC-011: control packets of all QPs leave before anybody's data.
bool Nic::send_control(Time now, PortMask room, Departure& out) {
  List<Qp, ControlTag> stuck;
  bool sent = false;
  while (!sent && !scheduler_.control.empty()) {
    Qp& qp = scheduler_.control.front();
    if (!qp.engine->responder().has_control()) {
      List<Qp, ControlTag>::remove(qp);
      continue;
    }
    sent = send_from(now, qp, room, out);
    if (!sent) {
      List<Qp, ControlTag>::remove(qp);
      stuck.push_back(qp);
    }
  }
  while (!stuck.empty()) scheduler_.control.push_back(stuck.pop_front());
  return sent;
}

bool Nic::send_data(Time now, PortMask room, Departure& out, bool control) {
  const bool every_port = (room & up_) == up_;
  for (std::uint32_t turns = scheduler_.ready(); turns > 0; --turns) {
    Qp* qp = scheduler_.next();
    if (qp == nullptr) return false;
    if (send_from(now, *qp, room, out, control)) {
      redeem(*qp, qp->packet_bytes);
      scheduler_.note_sent(*qp);
      qp->context->waiting.charge(*qp);
      starved_.charge(*qp);
      return true;
    }
    const bool has_more = !control && qp->engine->paths().has_probe();  // that was not asked for
    every_port && !has_more ? park(now, *qp) : scheduler_.yield(*qp);
  }
  return false;
}

bool Nic::send_from(Time now, Qp& qp, PortMask room, Departure& out, bool control) {
  while (control ? qp.engine->poll_transmit(now, room, out.transmit, may_ask(now, qp))
                 : qp.engine->poll_data(now, room, out.transmit)) {
    if (sending_ != &qp) end_run();
    sending_ = &qp;
    if (std::holds_alternative<wire::Probe>(out.transmit.packet.body)) probe_budget_.note_sent(now);
    uncall(qp);
    const auto* write = std::get_if<wire::Write>(&out.transmit.packet.body);
    out.payload.count = 0;
    if (write != nullptr && !qp.gather.resolve(regions_, qp.made.pd, out.transmit.work, out.transmit.offset,
                                               write->payload, out.payload)) {
      qp.engine->handle_local_error(now, out.transmit.work);
      touch(qp);
      continue;
    }
    out.to = qp.peer->address(out.transmit.envelope.port);
    out.peer = qp.peer->index;
    out.carrier = qp.carriers == nullptr ? nullptr : &(*qp.carriers)[out.transmit.slot.value];
    out.dscp = keeps_qp_class(out.transmit.envelope.traffic_class) ? qp.dscp : kDscpByClass;
    return true;
  }
  return false;
}

/// The QP can't send although every port has room: it waits for what holds it.
void Nic::park(Time now, Qp& qp) {
  leave_turn(qp);
  uncall(qp);
  if (qp.engine->paths().has_probe() && !may_ask(now, qp)) {
    asking_.push_back(qp);
    timers_.arm(probe_clock_, probe_budget_.next());
  }
  const engine::SendState state = qp.engine->send_state();
  if (state != engine::SendState::active && state != engine::SendState::ready) return;
  if (!qp.context->congestion->may_send(qp.engine->requestor().wants())) return wait_for_window(now, qp);
  if (pool_.free_slabs() == 0) starved_.push_back(qp);
  timers_.arm(qp, qp.engine->next_timeout());  // the pacer held it: only now the engine knows until when
  wake(*qp.context);
}

void Nic::wait_for_window(Time now, Qp& qp) {
  qp.context->waiting.push_back(qp);
  const Time paced = qp.context->congestion->next_send();
  paced > now ? timers_.arm(*qp.context, paced) : limit_wait(now, qp);
}

void Nic::limit_wait(Time now, Qp& qp) {
  if (qp.engine->requestor().wants() > qp.packet_bytes)
    timers_.arm(*qp.context, now + config_.scheduler.unit_patience);
}

/// The pacer lets go, or nobody found room for a unit for long: QPs whose peer is gone may hold most of the
/// window, and the rest of it has to do for the living.
void Nic::handle_congestion_timeout(Time now, CongestionContext& context) {
  if (context.waiting.empty()) return;
  if (!std::exchange(context.moved, false))
    context.waiting.next(config_.scheduler).engine->allow_partial_unit();
  wake(context);
  if (!context.waiting.empty()) limit_wait(now, context.waiting.next(config_.scheduler));
}

// MRC-NIC-016: first come, first served; as many as may ask now.
void Nic::wake_askers(Time now) {
  while (called_ < probe_budget_.left(now) && !asking_.empty()) {
    Qp& qp = asking_.pop_front();
    qp.called = true;
    ++called_;
    scheduler_.make_ready(qp);
  }
  if (!asking_.empty()) timers_.arm(probe_clock_, probe_budget_.next());
}

void Nic::handle_timeout(Time now) {
  while (Timed* due = timers_.pop_due(now)) {
    switch (due->kind) {
      case TimedKind::qp: {
        Qp& qp = static_cast<Qp&>(*due);
        if (qp.engine->next_timeout() <= now) qp.engine->handle_timeout(now);
        touch(qp);
        break;
      }
      case TimedKind::probes: wake_askers(now); break;
      case TimedKind::congestion:
        handle_congestion_timeout(now, static_cast<CongestionContext&>(*due));
        break;
      case TimedKind::peer: endpoint_.handle_announce_timeout(now, static_cast<Peer&>(*due)); break;
      case TimedKind::endpoint: {
        EndpointResult lost;
        while (endpoint_.poll_expired(now, lost)) observer_.on_endpoint_result(lost);
        break;
      }
    }
  }
}

}  // namespace mrc::nic
