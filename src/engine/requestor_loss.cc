// Which packets are gone? Three rules, each with its own proof; docs/engine/loss.md tells why and with which
// figures.
//
//   order    Packets of one EV follow one path and stay in order: if a newer one arrived, a missing older one
//   is gone. silence  A packet overdue on its path raises a suspicion: the EV carries no data and is asked by
//   a probe. The answer
//            settles it by order. No answer, while something sent after the probe was acknowledged, means
//            that the path is dead, and what it carried is gone.
//   timeout  Nothing at all moved for the ACK timeout, and a retry is counted. What left before something
//   that was heard is
//            gone. If nothing was heard, the peer may be asleep with everything in its queue: a few packets
//            are repeated as a question, and the rest is given up when it answers and still lacks them.
//
// No rule compares arrival times across EVs, so that reordering between paths, of any depth, repairs nothing
// needlessly.
#include "engine/requestor.h"
#include "engine/sizes.h"

namespace mrc::engine {

namespace {
/// How much later than usual an answer may be: by as much as the slowest of late was, and no more than the
/// setting. A host that is late now and then shows in its round trips, and one that is not shall not wait as
/// if it were. Never nothing: answers that took no time would make everything overdue at once, for ever.
constexpr Duration kLeastSlack = std::chrono::microseconds(1);
constexpr int kLeastPart = 4;              // of the slowest answer
constexpr std::uint8_t kMostRetries = 63;  // that are told apart: beyond what can be set, but for ever
Duration slack(const RequestorSettings& settings, const PathClock& clock) {
  const Duration jitter = std::max(clock.longest() - clock.rtt(), clock.longest() / kLeastPart);
  return std::min(settings.suspect_slack, std::max(jitter, kLeastSlack));
}
}  // namespace

void Requestor::infer_losses(Time now, Psn from, std::uint64_t missing) {
  // Nothing younger than this is overdue on any path: most packets need no look at theirs.
  const Duration young = std::min(settings_.suspect_slack, base_timeout());
  flight_.for_open(from, missing, [&](Psn psn) {
    if (!flight_.is_in_flight(psn)) return;
    const Record& r = flight_.record(psn);
    // MRC-REQ-004: a newer packet of the same EV arrived, so this one never will.
    if (clock_.overtaken(EvSlot(r.slot), r.order)) {
      lose(now, psn, LossCause::order);
    } else if (const Duration age = r.sent.age(now); age > young && age > suspicion(EvSlot(r.slot))) {
      doubt(now, psn, r);
    }
  });
}

// MRC-REQ-007: an overdue packet makes its path a suspect, and the path is asked.
void Requestor::doubt(Time now, Psn psn, const Record& record) {
  const EvSlot slot(record.slot);
  const bool peer_lives = heard_any_ && heard_.after(record.sent);
  const bool cannot_ask = !paths_.port_usable(paths_.path(slot).port);
  const bool being_asked = paths_.state(slot) == EvState::assumed_bad;
  const Duration age = record.sent.age(now), late = suspicion(slot) + patience(slot);
  // Older than the timeout, and the peer, awake for long enough to have gone through its queue, lacks it.
  if (peer_lives && age > std::max(base_timeout(), late) && revived_at_.age(now) > patience(slot))
    return lose(now, psn, LossCause::timeout);
  if (cannot_ask || being_asked) {
    // Its plane is down, or its EV is withdrawn and being probed anyway: patience is all that is left to
    // lose.
    const bool overdue = cannot_ask || age > late;
    if (peer_lives && overdue) return lose(now, psn, LossCause::silence);
    if (!peer_lives) ask_if_waiting(now, slot);
    return;
  }
  if (paths_.is_suspect(slot)) return;
  note_if_quiet(paths_.path(slot).port, record.order);
  ask(now, psn, slot);
}

void Requestor::ask(Time now, Psn psn, EvSlot slot) {
  if (!paths_.suspect(slot, patience(slot))) return;
  ++counters_.suspicions;
  say_(now, PathSuspected{slot, paths_.path(slot).port, psn});
  ask_if_waiting(now, slot);
}

/// Somebody has to answer something that left later, or silence will prove nothing.
void Requestor::ask_if_waiting(Time now, EvSlot slot) {
  if (!queue_.has_unsent() || !window_open()) paths_.ask_anyone(now, patience(slot));
}

/// Two EVs of a plane are overdue, and nothing that left by it since either is known to have arrived: it may
/// be the plane. What arrived after the first was asked proves that it is not.
void Requestor::note_if_quiet(PortId port, TxOrder overdue) {
  const auto asked = paths_.asked(port);
  if (asked && is_quiet(port, overdue) && is_quiet(port, *asked)) paths_.note_quiet(port);
}

/// Nothing that left on this plane after `order` is known to have arrived.
bool Requestor::is_quiet(PortId port, TxOrder order) const {
  const auto& rotation = paths_.rotation();
  for (const std::uint16_t s : rotation.in_rotation(rotation.plane_of(port))) {
    if (clock_.overtaken(EvSlot(s), order)) return false;
  }
  return true;
}

void Requestor::lose(Time now, Psn psn, LossCause cause) {
  const EvSlot slot(flight_.record(psn).slot);
  const std::uint32_t bytes = size_of(psn);
  flight_.mark_lost(psn);
  paths_.note_settled(now, slot, flight_.record(psn).sent, false, clock_.typical());
  charged_ -= bytes;
  congestion_.on_loss(now, bytes);
  switch (cause) {
    case LossCause::order: ++counters_.lost_by_order; break;
    case LossCause::silence: ++counters_.lost_by_silence; break;
    case LossCause::timeout: ++counters_.lost_by_timeout; break;
    case LossCause::nack: break;
  }
  say_(now, PacketLost{psn, slot, cause});
  const PathCause why = cause == LossCause::order     ? PathCause::loss
                        : cause == LossCause::silence ? PathCause::silence
                                                      : PathCause::timeout;
  paths_.note_bad(now, slot, why);
}

void Requestor::lose_silent(Time now) {
  if (!heard_any_) return;
  while (const auto silent = paths_.poll_silent(now, heard_)) {
    const PortId port = paths_.path(silent->slot).port;
    std::optional<TxOrder> left;  // what the silent EV swallowed last
    flight_.for_in_flight([&](Psn psn, const Record& r) {
      if (r.slot == silent->slot.value) left = r.order;
      const bool of_plane = silent->plane && paths_.path(EvSlot(r.slot)).port == port &&
                            r.sent.age(now) > suspicion(EvSlot(r.slot));
      if (r.slot == silent->slot.value || of_plane) lose(now, psn, LossCause::silence);
      return true;
    });
    paths_.note_bad(now, silent->slot, PathCause::silence);
    // Whoever sends little would lose a packet to each EV of a dead plane: another of its EVs is asked first.
    // Whoever sends much has heard from others of the plane since, and knows better.
    if (silent->plane) {
      paths_.give_up_plane(now, port);
    } else if (left ? is_quiet(port, *left) : !is_new_) {
      doubt_plane(now, port);
    }
  }
}

// MRC-EV-014: what one packet, or another QP to the same peer, found out about a plane costs a question, and
// no packet more.
void Requestor::doubt_plane(Time now, PortId port) {
  const Duration patience =
      std::min(clock_.longest() * settings_.silence_eighths / 8 + slack(settings_, clock_), base_timeout());
  if (paths_.doubt_plane(port, patience)) paths_.ask_anyone(now, patience);
}

void Requestor::doubt_ev(Time now, EvSlot s) {
  if (s.value < paths_.size() && paths_.doubt_ev(s, patience(s))) paths_.ask_anyone(now, patience(s));
}

void Requestor::note_receiving(Time now, Incoming* nic, bool torn) {
  is_new_ = false;
  if (queue_.awaiting()) return;
  // A trickle asks less often than once per round trip: in an incast of hundreds, the answers of a question
  // per packet would take percents of the very port that everybody waits for.
  const bool trickle = !torn && ++heard_since_asked_ < settings_.reverse_probe_packets;
  const Duration every = clock_.longest() * (trickle ? settings_.reverse_probe_trickle : 1);
  if (asked_reverse_ && asked_reverse_at_.age(now) < every) return;
  // MRC-EV-021: those of a host that receive little each ask about the same few paths.
  if (asked_reverse_ && trickle && nic != nullptr && !nic->take_question(now)) return;
  heard_since_asked_ = 0;
  paths_.ask_reverse(2 * clock_.longest());
  asked_reverse_ = true;
  asked_reverse_at_ = Ticks(now);
}

void Requestor::handle_timeout(Time now) {
  if (now >= wake_at_) wake_at_ = kNever;
  paths_.handle_timeout(now);
  lose_silent(now);
  if (paths_.in_doubt()) paths_.ask_anyone(now, 2 * clock_.longest());
  ask_ahead();
  watch_tail(now);
  if (now >= check_at_) check_oldest(now);
  if (awaits() && now >= progress_at_ + retry_timeout()) retry(now);
  settle_if_idle(now);
}

/// The tail of a burst has no newer packet to betray a loss: look at the oldest ones when they are overdue.
void Requestor::check_oldest(Time now) {
  check_at_ = kNever;
  if (flight_.in_flight() == 0) {
    if (is_new_ && paths_.asks_ahead()) return knock(now);
    // All arrived, or all waits for repair. An unexecuted message then means that its Transport ACK got lost.
    if (!owed() || flight_.lost() > 0) return;
    paths_.ask_anyone(now, 2 * clock_.longest());
    check_at_ = now + 2 * clock_.longest() + slack(settings_, clock_);
    return;
  }
  int budget = Slab::kPsns;
  Time soonest = kNever;
  flight_.for_in_flight([&](Psn psn, const Record& r) {
    const Duration left = suspicion(EvSlot(r.slot)) - r.sent.age(now);
    if (left <= Duration::zero()) {
      doubt(now, psn, r);
      soonest = std::min(soonest, now + clock_.longest() / 2 + slack(settings_, clock_));
    } else {
      soonest = std::min(soonest, now + left);
    }
    return --budget > 0;
  });
  check_at_ = soonest;
}

// MRC-REQ-008: linear retries first, then exponential; all recoverable failures share one counter.
Duration Requestor::retry_timeout() const {
  const int doublings = std::max(0, retries_ - settings_.linear_retries);
  return base_timeout() * (std::int64_t{1} << std::min(doublings, 20));
}

// MRC-API-026: past the limit the oldest work fails, and the QP's error flushes the rest.
void Requestor::retry(Time now) {
  if (flight_.in_flight() == 0 && flight_.lost() > 0 && !window_open()) {
    progress_at_ =
        now;  // nothing of ours is out there: it is the shared window that we wait for, not the peer
    return;
  }
  const bool for_ever = settings_.exponential_retries >= kRetryForEver;
  if (!for_ever && retries_ >= settings_.linear_retries + settings_.exponential_retries) {
    fail(WorkStatus::retry_exceeded);
    return;
  }
  if (retries_ < kMostRetries) retries_ = (retries_ + 1) & kMostRetries;
  ++counters_.retries;
  progress_at_ = now;
  say_(now, Retried{retries_});
  // MRC-REQ-011: silence of everybody proves nothing about a packet. Repeating all of it would double the
  // queue of a peer that is merely late, and blame every path.
  int questions = settings_.retry_packets;
  flight_.for_in_flight([&](Psn psn, const Record&) {
    if (questions-- > 0) lose(now, psn, LossCause::timeout);
    return questions > 0;
  });
  nudge_ = flight_.settled() && queue_.executed() < queue_.whole();
}

// Neither exceeds the ACK timeout: after an outage the clock has seen acknowledgements that took as long as
// that, and a patience of seconds would let nothing flow that could teach it better.
//
// A path never heard of is asked as soon as any other would be, and then has twice the time to answer: asking
// costs a probe, but a path that was dead from the start holds its packet up until it is found out.
Duration Requestor::suspicion(EvSlot s) const {
  const bool stranger = !clock_.heard_of(s) && clock_.is_seasoned();
  const Duration usual = stranger ? clock_.longest() : clock_.delay(s);
  return std::min(usual * settings_.suspect_eighths / 8 + slack(settings_, clock_), base_timeout());
}

Duration Requestor::patience(EvSlot s) const {
  // Answers come back by whatever path the peer chooses, so the slowest recent one sets the patience.
  return std::min(
      std::max(clock_.delay(s), clock_.longest()) * settings_.silence_eighths / 8 + slack(settings_, clock_),
      base_timeout());
}

std::uint32_t Requestor::size_of(Psn psn) {
  const Work& work = queue_[flight_.record(psn).work];
  return cc_bytes(payload_of(work, psn), settings_.timestamps, psn == work.last() && work.post.has_imm);
}

Time Requestor::next_timeout() const {
  if (failure_) return kNever;
  Time t = std::min(check_at_, paths_.next_timeout());
  if (awaits()) t = std::min(t, progress_at_ + retry_timeout());
  return std::min(t, wake_at_);
}

}  // namespace mrc::engine
