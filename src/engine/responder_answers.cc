// Answers: NAK and Transport ACK, NACKs, SACKs; and receive completions.
#include "engine/responder.h"

namespace mrc::engine {
namespace {

wire::Syndrome syndrome(Verdict fault) {
  switch (fault) {
    case Verdict::bad_length: return wire::Syndrome::invalid_request;
    case Verdict::too_many_wimm:
    case Verdict::no_receive: return wire::Syndrome::remote_operational_error;
    default: return wire::Syndrome::remote_access_error;
  }
}

}  // namespace

// MRC-RSP-010: a message whose immediate found no receive has arrived and yet was not executed, nor was any
// behind it: its sender must not take it for delivered.
std::uint32_t Responder::executed() const {
  std::uint32_t messages = window_.messages();
  const Immediate* refused = fault_ == Verdict::no_receive ? stash_.ready(window_.cack()) : nullptr;
  if (refused != nullptr) messages -= ((messages - 1 - refused->msn) & Immediate::kMsnMask) + 1;
  return messages & Psn::kMask;
}

bool Responder::poll_control(Time now, wire::Packet& out) {
  out = {.dqpn = remote_, .psn = window_.cack(), .body = {}};
  if (nak_due_) {
    nak_due_ = false;
    out.body = wire::TransportAck{.msn = executed(), .syndrome = syndrome(*fault_)};
    ++counters_.transport_acks;
    return true;
  }
  if (fault_) return false;
  if (!special_.empty() && special_.front().nack) {
    const Trigger trigger = special_.pop();
    out.psn = trigger.psn;
    out.body = make_nack(now, trigger);
    ++counters_.nacks;
    return true;
  }
  if (!special_.empty() || plain_) {
    const Trigger trigger = !special_.empty() ? special_.pop() : *plain_;
    // Any SACK reports everything, so the plain one that waits has been said; a probe's round trip is not
    // data's.
    if (!trigger.probe) plain_.reset();
    out.body = make_sack(now, trigger);
    ++counters_.sacks;
    return true;
  }
  if (ack_due_) {
    ack_due_ = false;
    out.body = wire::TransportAck{.msn = executed()};
    ++counters_.transport_acks;
    return true;
  }
  return false;
}

std::optional<Ev> Responder::answers() const {
  if (nak_due_) return std::nullopt;
  if (!special_.empty()) return special_.front().ev;
  return plain_ ? std::optional(plain_->ev) : std::nullopt;
}

// MRC-RSP-011: once everything that is still to come fits the way here and our port's queue, no window is of
// use any more, and senders are told. Those hold two BDP, and half of one arrives until the word is heard;
// the maximum window is one and a half.
bool Responder::rest_fits() const {
  return settings_.restore_at_end && penalty_ == 0 && expected_.all_fit(congestion_.max_window() * 5 / 3);
}

wire::Sack Responder::make_sack(Time now, const Trigger& trigger) {
  unreported_ = 0;
  wire::Sack sack;
  const auto view = trigger.probe ? window_.lowest_view() : window_.next_view();
  sack.sack_offset = view.offset;
  sack.bitmap = view.bits;
  sack.cack_psn = window_.cack();
  const std::int32_t offset = trigger.psn - window_.cack();
  sack.ack_psn_offset = static_cast<std::int16_t>(trigger.probe ? trigger.probe_id : offset);
  sack.entropy = trigger.ev;  // MRC-WIRE-028: the path that this is about, as far as the packet told it
  sack.spdcid = static_cast<std::uint16_t>(remote_.value);
  sack.dpdcid = static_cast<std::uint16_t>(local_.value);
  sack.rcvd_bytes = static_cast<std::uint32_t>((rcvd_bytes_ + 255) / 256) & 0xFFFFFF;
  sack.ooo_count = static_cast<std::uint16_t>(window_.out_of_order() & 0x7FFF);
  sack.mpr = dynamic_mpr_ ? advertised_mpr_ : 0;
  sack.echo = echo(now, trigger);
  sack.mark = trigger.mark;
  sack.probe_reply = trigger.probe;
  sack.rcv_cwnd_pen = penalty_ & 0x7F;
  sack.restore_cwnd = restore_ || rest_fits();
  restore_ = false;
  return sack;
}

wire::Nack Responder::make_nack(Time now, const Trigger& trigger) const {
  return {.entropy = trigger.ev,
          .nack_psn = trigger.psn,
          .spdcid = static_cast<std::uint16_t>(remote_.value),
          .dpdcid = static_cast<std::uint16_t>(local_.value),
          .echo = echo(now, trigger),
          .reason = trigger.reason};
}

// MRC-RSP-009: the echoed timestamp is advanced by the time that the packet was held here.
wire::Timestamp Responder::echo(Time now, const Trigger& trigger) const {
  const std::int64_t held = settings_.service_time ? trigger.at.age(now).count() >> 7 : 0;
  return {static_cast<std::uint16_t>(trigger.timestamp.ticks + held)};
}

// MRC-RSP-001: receive completions appear in send order, each after everything before it has been placed.
bool Responder::poll_completion(Completion& out) {
  const Immediate* next = fault_ ? nullptr : stash_.ready(window_.cack());
  if (next != nullptr && !flushing_) {
    if (receives_.empty()) {
      refuse(
          Verdict::no_receive);  // MRC-RSP-008: there is no RNR; an immediate without a receive ends the QP
      return false;
    }
    out = {.wr_id = receives_.pop(),
           .kind = CompletionKind::receive,
           .has_imm = true,
           .solicited = next->solicited != 0,
           .imm = next->imm,
           .length = next->length};
    stash_.pop();
    return true;
  }
  if (!flushing_ || receives_.empty()) return false;
  out = {.wr_id = receives_.pop(), .kind = CompletionKind::receive, .status = WorkStatus::flushed};
  return true;
}

}  // namespace mrc::engine
