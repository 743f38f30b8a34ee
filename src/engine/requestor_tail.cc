// What is late at the end. A tail has nothing behind it whose arrival would betray a loss, and the rule of
// silence (requestor_loss.cc) takes two of the slowest round trips: where hosts are late now and then, those
// are milliseconds, and all that time somebody waits for the last packet of a message.
//
// So where it is switched on, a packet for which the sender waits is sent again by another EV as soon as it
// is late, although it may not be lost. That is the only place where anything is repeated without a proof,
// and each packet is so once; the path that it took is asked, so that a dead one is found out.
#include "engine/requestor.h"

namespace mrc::engine {

/// Nothing new can leave before something of what is in flight has arrived.
bool Requestor::waits_for_tail() const {
  const bool all_left = !queue_.has_unsent() || flight_.outstanding() >= window_;
  return settings_.tail_eighths != 0 && all_left && flight_.lost() == 0 && flight_.in_flight() > 0;
}

/// The oldest packet that was not sent twice yet, if the peer answered something that left later: else it is
/// the peer that is late, and everything with it.
std::optional<Psn> Requestor::oldest_of_tail() {
  std::optional<Psn> oldest;
  flight_.for_in_flight([&](Psn psn, const Record& r) {
    if (!r.repaired) oldest = psn;
    return r.repaired;
  });
  const bool peer_goes_on = heard_any_ && oldest && heard_.after(flight_.record(*oldest).sent);
  return peer_goes_on ? oldest : std::nullopt;
}

// MRC-REQ-014: late by the usual measure, not by the slowest: a packet too many costs less than the wait.
void Requestor::watch_tail(Time now) {
  late_ = false;
  if (!waits_for_tail() || clock_.typical() == Duration::zero()) return;
  const auto oldest = oldest_of_tail();
  if (!oldest) return;
  const Duration left = clock_.typical() * settings_.tail_eighths / 8 - flight_.record(*oldest).sent.age(now);
  late_ = left <= Duration::zero();
  if (!late_) wake_at_ = std::min(wake_at_, now + left);
}

bool Requestor::send_late(Time now, PortMask room, Transmit& out) {
  if (!late_ || !may_send(now, Time::min())) return false;
  const auto psn = oldest_of_tail();
  if (!waits_for_tail() || !psn) return late_ = false;
  Record& record = flight_.record(*psn);
  const EvSlot first(record.slot);
  const auto slot = choose_for_repair(now, room, first);
  if (!slot) return false;
  // On the books it counts once: should both arrive, the peer's count says so.
  const std::uint32_t bytes = size_of(*psn);
  charged_ -= bytes;
  congestion_.on_settled(now, bytes);
  paths_.note_settled(now, first, record.sent, false, clock_.typical());
  ++counters_.repairs;
  ++counters_.repeats;
  dispatch(now, *psn, *slot, true, record, out);
  paths_.end_unit();
  const bool can_ask = paths_.port_usable(paths_.path(first).port) &&
                       paths_.state(first) != EvState::assumed_bad && !paths_.is_suspect(first);
  if (can_ask) ask(now, *psn, first);
  watch_tail(now);
  return true;
}

}  // namespace mrc::engine
