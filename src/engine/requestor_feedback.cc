// What the responder's answers mean: SACK and NACK speak of packets, Transport ACK of messages.
#include "engine/requestor.h"
#include "engine/sizes.h"

namespace mrc::engine {

namespace {
constexpr std::int32_t signed24(std::uint32_t v) { return static_cast<std::int32_t>(v << 8) >> 8; }
}  // namespace

Verdict Requestor::on_sack(Time now, const wire::Sack& sack) {
  const Psn next = sack.cack_psn + 1;
  if (next.after(flight_.next()) || flight_.next() - next > window_ + flight_.outstanding() + (1 << 22))
    return Verdict::stale;

  // An answer to a probe first: it may prove an order that the losses below rest on.
  if (sack.probe_reply) {
    const auto answer = paths_.on_probe_answer(now, static_cast<std::uint16_t>(sack.ack_psn_offset));
    if (!answer) return Verdict::stale;
    paths_.note_works(answer->slot);
    if (answer->question) {
      clock_.note_arrived(answer->slot, answer->question->order);
      // A probe is faster than the full packets that will come: it is no measure of how long they may take.
      if (!is_new_) clock_.note_delay(now, answer->slot, answer->question->sent_at.age(now));
      const Ticks asked = answer->question->sent_at;
      if (!heard_any_ || asked.after(heard_)) heard_ = asked;
      heard_any_ = true;
    } else {
      // A withdrawn EV carries no data: whatever it still owes left before this probe.
      clock_.note_arrived(answer->slot, order_);
    }
    say_(now, ProbeAnswered{answer->slot, static_cast<std::uint16_t>(sack.ack_psn_offset),
                            answer->question ? answer->question->sent_at.age(now) : Duration::zero()});
  }

  const Psn trigger = sack.cack_psn + sack.ack_psn_offset;
  std::optional<Duration> age;
  std::optional<EvSlot> slot;
  bool comparable = !full_sized_;
  if (!sack.probe_reply && flight_.is_in_flight(trigger)) {
    const Record& r = flight_.record(trigger);
    slot = EvSlot(r.slot);
    if (!r.repaired) age = r.sent.age(now);
    comparable = comparable || payload_of(queue_[r.work], trigger) == limits_.path_mtu;
  }
  // A short packet is faster on every link than a full one. As base_rtt it would shrink the maximum window
  // below what full packets need, and make them look late for ever.
  const bool sample = comparable && !sack.probe_reply;
  const std::optional<Duration> rtt = sample ? round_trip(now, sack, age) : std::nullopt;
  const bool counted = signed24(sack.rcvd_bytes - rcvd_units_) < 0;  // by a later report that overtook it
  const bool stale = counted || next.before(flight_.base());

  acknowledge_below(now, next);
  acknowledge_bitmap(now, sack.cack_psn + sack.sack_offset, sack.bitmap);
  if (!sack.probe_reply) acknowledge_bitmap(now, trigger, 1);
  // MRC-CC-027: a Transport ACK that overtakes a SACK says that packets arrived, but not how many bytes.
  if (!counted) {
    account(now, sack, rtt, age.has_value());
    hold_missing(now, sack);
  }
  if (!stale) {
    if (limits_.dynamic_mpr && sack.mpr != 0) window_ = std::min<int>(limits_.mpr, sack.mpr) * kMprUnit;
    // Only a fresh report proves that something is missing: an old one merely did not know yet.
    infer_losses(now, next, 1);
    infer_losses(now, sack.cack_psn + sack.sack_offset, ~sack.bitmap);
  }
  note_marks(now, sack, slot);
  paths_.set_patience(clock_.longest() * settings_.silence_eighths / 8 + settings_.suspect_slack);
  lose_silent(now);
  ask_ahead();
  watch_tail(now);
  settle_if_idle(now);
  return Verdict::ok;
}

void Requestor::acknowledge_below(Time now, Psn psn) {
  if (!psn.after(flight_.base())) return;
  flight_.advance(psn, [&](Psn p, const Record& r, bool flying) { note_acked(now, p, r, flying); });
  note_progress(now);
}

void Requestor::acknowledge_bitmap(Time now, Psn from, std::uint64_t bits) {
  flight_.for_open(from, bits, [&](Psn p) {
    const bool flying = flight_.is_in_flight(p);
    flight_.settle(p);
    note_acked(now, p, flight_.record(p), flying);
    note_progress(now);
  });
}

void Requestor::note_acked(Time now, Psn psn, const Record& record, bool was_in_flight) {
  if (!was_in_flight) return;  // it was thought lost: which transmission arrived is unknown
  const EvSlot slot(record.slot);
  // Where late packets are repeated, the first copy is mostly what arrived, and the time since the second no
  // measure: what is usual would shrink, and more would look late.
  if (!record.repaired || settings_.tail_eighths == 0) clock_.note_age(record.sent.age(now));
  paths_.note_settled(now, slot, record.sent, true, clock_.typical());
  if (!heard_any_ || record.sent.after(heard_)) heard_ = record.sent;
  heard_any_ = true;
  // A repaired packet may owe its arrival to the first transmission, so it proves nothing about its latest
  // path.
  if (!record.repaired) {
    // MRC-REQ-013: what was asked after it stands behind it in the same queue, and may take longer still.
    if (paths_.is_suspect(slot))
      paths_.note_slow(now, slot, record.sent.age(now) * settings_.silence_eighths / 8);
    clock_.note_arrived(slot, record.order);
    learn_delay(now, slot, record.sent.age(now));
    paths_.note_works(slot);
  }
  say_(now, PacketAcked{psn, slot});
}

void Requestor::learn_delay(Time now, EvSlot slot, Duration age) {
  if (clock_.is_guess()) {
    clock_.note_delay(now, slot, age);
    // The first look at the tail was timed by a guess, which may be a hundred round trips.
    check_at_ = std::min(check_at_, now + suspicion(slot));
    return;
  }
  // Overdue: most of that time was ours, waiting for an answer that got lost or was not due. Learnt whole, it
  // would make the next wait longer, and so on; and it says nothing about other paths.
  if (age > suspicion(slot)) return clock_.note_own_delay(slot, suspicion(slot));
  clock_.note_delay(now, slot, age);
}

void Requestor::note_progress(Time now) {
  // A retry was made, or was due and is not: timers of a host that stood still did not run.
  if (retries_ > 0 || now - progress_at_ > base_timeout()) {
    paths_.hurry(now);
    revived_at_ = Ticks(now);
  }
  retries_ = 0;
  nudge_ = false;
  progress_at_ = now;
}

// MRC-CC-020: round trips of repaired packets count only with an echoed timestamp.
std::optional<Duration> Requestor::round_trip(Time now, const wire::Sack& sack,
                                              std::optional<Duration> age) const {
  // 16 bits of 128 ns wrap every 8.4 ms: on slower paths only the record can tell.
  if (!settings_.timestamps || clock_.longest() > 4ms || (age && *age > 4ms)) return age;
  const auto ticks = static_cast<std::uint16_t>(stamp(now).ticks - sack.echo.ticks);
  return Duration(std::int64_t{ticks} * 128);
}

void Requestor::account(Time now, const wire::Sack& sack, std::optional<Duration> rtt, bool certain) {
  const std::uint32_t units = static_cast<std::uint32_t>(signed24(sack.rcvd_bytes - rcvd_units_));
  rcvd_units_ = sack.rcvd_bytes;
  const std::uint64_t newly = std::uint64_t{units} * 256;
  charged_ -= static_cast<std::int64_t>(newly);
  if (rtt) clock_.note_rtt(*rtt);
  const std::uint64_t before = congestion_.window();
  congestion_.on_sack(now, {.newly = newly,
                            .rtt = rtt,
                            .rtt_certain = certain,
                            .ecn = sack.mark == wire::SackMark::skip_once,
                            .penalty = sack.rcv_cwnd_pen,
                            .restore = sack.restore_cwnd,
                            .rest = sack.restore_cwnd ? rest_known_by(sack) : 0});
  if (congestion_.window() != before) say_(now, WindowChanged{congestion_.window(), congestion_.in_flight()});
}

/// What has yet to leave, repairs among it: nothing where there is a message that the peer has not seen a
/// packet of, because it cannot have reckoned with it.
std::uint64_t Requestor::rest_known_by(const wire::Sack& sack) const {
  const Psn trigger = sack.cack_psn + sack.ack_psn_offset;
  if (!queue_.all_started() || sack.probe_reply || trigger.before(queue_.current().first)) return 0;
  const int unsent = queue_.segmenting() ? queue_.current().last() - flight_.next() + 1 : 0;
  return static_cast<std::uint64_t>(unsent + flight_.lost()) * cc_bytes_max(limits_.path_mtu);
}

// MRC-CC-029: the peer counts copies. A packet that was given up, or sent again because it was late, and then
// arrives twice takes another one's bytes out of the flight. Which copy came nobody says, but what the report
// shows to be missing has not come at all.
void Requestor::hold_missing(Time now, const wire::Sack& sack) {
  const auto& c = counters_;
  if (c.lost_by_order + c.lost_by_silence + c.lost_by_timeout + c.repeats == 0) return;
  // A count that is low by some packets makes a window somewhat larger; one of nothing makes every trim a
  // storm of its own.
  if (charged_ >= cc_bytes_max(limits_.path_mtu)) return;
  std::int64_t missing = 0;
  flight_.for_open(sack.cack_psn + sack.sack_offset, ~sack.bitmap, [&](Psn psn) {
    if (flight_.is_in_flight(psn)) missing += size_of(psn);
  });
  if (charged_ >= missing) return;
  congestion_.on_settled(now, charged_ - missing);
  charged_ = missing;
}

void Requestor::note_marks(Time now, const wire::Sack& sack, std::optional<EvSlot> slot) {
  if (sack.mark == wire::SackMark::none) return;
  if (!slot) slot = paths_.find(sack.entropy);
  if (!slot) return;
  if (sack.mark == wire::SackMark::skip_once) paths_.note_skip(now, *slot, PathCause::ecn);
  if (sack.mark == wire::SackMark::always_skip) paths_.note_bad(now, *slot, PathCause::always_skip);
}

Verdict Requestor::on_nack(Time now, const wire::Nack& nack) {
  using wire::NackReason;
  // MRC-REQ-012: every reason but this one is answered by a repair.
  if (nack.reason == NackReason::unexp_event) {
    fail(WorkStatus::remote_operation_error);
    return Verdict::ok;
  }
  if (!flight_.is_in_flight(nack.nack_psn)) return Verdict::stale;
  const Record& record = flight_.record(nack.nack_psn);
  const EvSlot slot(record.slot);
  // A NACK for an earlier transmission of a packet that is on its way again says nothing new.
  if (record.repaired && paths_.find(nack.entropy) != slot) return Verdict::stale;

  const std::uint32_t bytes = size_of(nack.nack_psn);
  ++counters_.nacked;
  // MRC-EV-017: it is proof of the path and its plane, as an arrival is.
  paths_.note_works(slot);
  if (nack.reason == NackReason::trimmed || nack.reason == NackReason::trimmed_lasthop) paths_.acquit(slot);
  charged_ -= bytes;
  flight_.mark_lost(nack.nack_psn);
  paths_.note_settled(now, slot, record.sent, false, clock_.typical());
  say_(now, PacketLost{nack.nack_psn, slot, LossCause::nack});
  switch (nack.reason) {
    case NackReason::trimmed:  // A trimmed packet is good news: the path works, the queue was full.
      paths_.note_skip(now, slot, PathCause::trim);
      congestion_.on_trim(now, bytes, false);
      break;
    case NackReason::trimmed_lasthop:
      if (!record.repaired && payload_of(queue_[record.work], nack.nack_psn) == limits_.path_mtu)
        congestion_.on_unqueued(record.sent.age(now));
      congestion_.on_trim(now, bytes, true);
      break;
    default:  // The peer lacks something. At once would only be refused again.
      congestion_.on_loss(now, bytes);
      if (now >= repair_after_) repair_after_ = now + clock_.longest() / 2;
      break;
  }
  heard_any_ = true;
  settle_if_idle(now);
  return Verdict::ok;
}

// MRC-REQ-010: only this completes a send; a SACK says that packets arrived, not that the message was
// executed.
Verdict Requestor::on_transport_ack(Time now, const wire::TransportAck& ack) {
  const std::int32_t ahead = signed24(ack.msn - static_cast<std::uint32_t>(queue_.executed()));
  if (ahead < 0 || static_cast<std::uint64_t>(ahead) > queue_.whole() - queue_.executed())
    return Verdict::stale;
  for (std::int32_t i = 0; i < ahead; ++i) {
    acknowledge_below(now, queue_.oldest_awaiting().last() + 1);
    queue_.execute();
  }
  if (ahead > 0) note_progress(now);
  switch (ack.syndrome) {
    case wire::Syndrome::ack: break;
    case wire::Syndrome::invalid_request: fail(WorkStatus::remote_invalid_request); break;
    case wire::Syndrome::remote_access_error: fail(WorkStatus::remote_access_error); break;
    case wire::Syndrome::remote_operational_error: fail(WorkStatus::remote_operation_error); break;
  }
  watch_tail(now);
  settle_if_idle(now);
  return ahead > 0 || ack.syndrome != wire::Syndrome::ack ? Verdict::ok : Verdict::stale;
}

void Requestor::fail(WorkStatus status) {
  if (failure_) return;
  failure_ = status;
  queue_.fail(status);
}

void Requestor::abandon(Time now) {
  flight_.advance(flight_.next(), [](Psn, const Record&, bool) {});
  settle_if_idle(now);
}

/// Reports get lost, sizes are rounded, networks duplicate: what this QP holds of the window drifts. It is
/// never less than nothing, and nothing when nothing is in flight - also while all that is left waits for its
/// repair, or a residue could keep a small window shut for good.
void Requestor::settle_if_idle(Time now) {
  const bool adrift = flight_.in_flight() == 0 ? charged_ != 0 : charged_ < 0;
  if (!adrift) return;
  congestion_.on_settled(now, charged_);
  charged_ = 0;
}

}  // namespace mrc::engine
