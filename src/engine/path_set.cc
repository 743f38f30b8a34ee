#include "engine/path_set.h"

#include <algorithm>
#include <utility>

namespace mrc::engine {

PathSet::PathSet(std::span<const Path> table, const PathSettings& settings, std::uint64_t seed,
                 const Narrator& say)
    : table_(table),
      settings_(settings),
      prng_(seed),
      say_(say),
      slots_(table.size()),
      rotation_(table, settings.active_per_plane, settings.reshuffle_reach, prng_),
      reverse_(static_cast<std::size_t>(rotation_.planes())) {
  MRC_CHECK(!table.empty() && table.size() <= kMaxEvs);
  // Nothing is ever known of a path but in its first slot: the others are out of use.
  for (std::uint16_t i = 0; rotation_.has_copies() && i < table.size(); ++i) {
    if (known_as(EvSlot(i)) != EvSlot(i)) slots_[i].set(EvState::denied);
  }
  for (int p = 0; p < rotation_.planes(); ++p) {
    local_up_.add(rotation_.port_of(p));
    const auto run = rotation_.in_rotation(p);
    answer_by(EvSlot(run[prng_.below(static_cast<std::uint32_t>(run.size()))]));
  }
}

// MRC-EV-001: the EV is chosen at send time, per packet, among GOOD EVs whose port has room.
std::optional<EvSlot> PathSet::choose(Time now, PortMask room, std::optional<EvSlot> avoid,
                                      const std::optional<Heard>& heard, int eighths) {
  const PortMask open = talking(room & usable_ports());
  const bool same_flowlet = settings_.flowlet_ns != 0 && unit_ &&
                            chosen_at_.age(now) < Duration(settings_.flowlet_ns) &&
                            state(*unit_) != EvState::assumed_bad && state(*unit_) != EvState::denied;
  chosen_at_ = Ticks(now);
  const bool joins = unit_left_ >= eighths;
  if ((joins || same_flowlet) && unit_ != avoid && open.has(path(*unit_).port)) {
    if (joins) unit_left_ = static_cast<std::uint16_t>(unit_left_ - eighths);
    return unit_;
  }
  unit_ = pick(now, open, avoid, heard);
  // MRC-EV-001: a unit of one packet is just that, however short the packet.
  const bool shared = unit_ && settings_.spray_unit > 1;
  unit_left_ = shared ? static_cast<std::uint16_t>(settings_.spray_unit * kFullPacket - eighths) : 0;
  return unit_;
}

void PathSet::note_sent(Time now, EvSlot s) {
  Slot& slot = slots_[s.value];
  const bool first = slot.proven ? slot.streak == 0 : !slot.tried;
  if (slot.serves() && first) slot.due = Ticks(now);
  if (slot.serves() && slot.streak < 63) slot.streak = (slot.streak + 1) & 63;
  slot.tried = slot.tried | !slot.proven;
}

bool PathSet::is_late(Duration age, Duration typical) const {
  return settings_.late_packets != 0 && typical != Duration::zero() &&
         age > typical * settings_.late_eighths / 8;
}

void PathSet::note_settled(Time now, EvSlot s, Ticks sent, bool arrived, Duration typical) {
  Slot& slot = slots_[s.value];
  if (!slot.serves() || slot.streak == 0) return;
  const Duration age = sent.age(now);
  // The others left after this one, evenly.
  if (slot.proven) slot.due = Ticks(now - age + age / slot.streak);
  const std::uint32_t backoff = slot.backoff;  // before its neighbour is written: both are in one word
  slot.streak = (slot.streak - 1) & 63;
  if (backoff == 0) return;
  const bool in_time = arrived && !is_late(age, typical);
  const std::uint32_t more = in_time ? backoff + settings_.late_growth : kQuarters;
  slot.backoff = more > 31 ? 0 : more & 31;
}

/// It carried data and was never answered, although what left later by others was.
bool PathSet::waits_for_proof(const Slot& slot, const std::optional<Heard>& heard) const {
  return slot.on_trial() && heard && heard->newest.after(slot.due);
}

bool PathSet::keeps_waiting(Time now, const Slot& slot, const std::optional<Heard>& heard) const {
  return heard && slot.proven && slot.streak >= settings_.late_packets &&
         is_late(slot.due.age(now), heard->typical);
}

// MRC-EV-013: an EV that owes its first answer is passed over while others can carry: a path that was dead
// from the start then costs a packet or two, not all that it gets until it is found out. At most so many per
// packet, so that a few proven EVs do not have to carry everything.
// MRC-EV-016: and so is one whose answers are late, until it has answered; then it carries one packet at a
// time, and more with each answer in time. So a slow path gets what it can carry, which a skipped turn per
// mark does not tell: marks come from the head of its queue, and the slower it is the fewer.
std::optional<EvSlot> PathSet::pick(Time now, PortMask open, std::optional<EvSlot> avoid,
                                    const std::optional<Heard>& heard) {
  std::optional<EvSlot> last, on_trial, full;
  bool skipped = false;
  int passed = 0;
  for (int tries = rotation_.active(); tries >= 0; --tries) {
    const auto s = rotation_.next(open, prng_);
    if (!s) break;
    last = s;
    Slot& slot = slots_[s->value];
    // MRC-EV-003: SKIP ends when the rotation meets it; at most one per packet sent.
    if (slot.state() == EvState::skip && !skipped) {
      skipped = true;
      change(now, *s, EvState::good, PathCause::start);
      continue;
    }
    if (slot.held || s == avoid) continue;
    const bool late = keeps_waiting(now, slot, heard);
    if (late) slot.backoff = kQuarters;
    if (late || slot.is_full()) {
      if (!late && !full) full = s;
      continue;
    }
    if (passed >= settings_.trials_passed_over || !waits_for_proof(slot, heard)) return s;
    ++passed;
    if (!on_trial) on_trial = s;
  }
  return on_trial ? on_trial : full ? full : last;
}

/// Without the planes of which nothing is heard, unless no other has an EV left.
PortMask PathSet::talking(PortMask open) const {
  if (quiet_.empty()) return open;
  const PortMask rest(usable_ports().bits() & ~quiet_.bits());
  for (int p = 0; p < rotation_.planes(); ++p) {
    if (rest.has(rotation_.port_of(p)) && rotation_.active_in(p) > 0) return open & rest;
  }
  return open;
}

/// Few packets take long to become kArrivals, and what came before a pause says nothing about now.
void PathSet::note_arrival(Time now, PortId port) {
  if (!is_plane(port)) return;
  const auto coarse = static_cast<std::uint16_t>(now.time_since_epoch().count() >> kCoarse);
  const Duration age(std::int64_t{static_cast<std::uint16_t>(coarse - arrivals_since_)} << kCoarse);
  if (arrived_ == kArrivals || age > kArrivalAges * patience()) {
    arrived_ = 0;
    arrivals_before_ = std::exchange(arrivals_, PortMask());
    arrivals_since_ = coarse;
  }
  ++arrived_;
  arrivals_.add(port);
}

/// A plane all of whose EVs are bad is not asked any more, so nothing says that it is deaf.
PortMask PathSet::in_service() const {
  PortMask alive;
  for (int p = 0; p < rotation_.planes(); ++p) {
    if (rotation_.active_in(p) > 0) alive.add(rotation_.port_of(p));
  }
  const PortMask both = usable_ports() & alive;
  return both.empty() ? usable_ports() : both;
}

PortMask PathSet::heard() const { return PortMask(in_service().bits() & ~deaf_.bits() & ~quiet_.bits()); }

// MRC-EV-010: control packets use a small set, one EV per plane, of paths known to work.
std::optional<EvSlot> PathSet::choose_control(PortMask room, bool with_last, std::optional<Ev> came_by) {
  // The best planes are those, whether they have room now or not: an answer that waits a moment is worth more
  // than one that is lost.
  const PortMask open = in_service(), heard = this->heard(), busy = heard & arrived();
  const bool torn = busy.empty() && is_torn();
  const PortMask ports = room & (!busy.empty()    ? busy
                                 : torn           ? open | arrived()
                                 : !heard.empty() ? heard
                                                  : open);
  // Long turns: the peer's EV returns after several answers in a row. Short ones by a plane that nothing
  // comes by: where both speak rarely, eight answers into a dead plane are a millisecond.
  const std::uint32_t turn = arrived().has(rotation_.port_of(control_turn_)) ? kTornTurn : kTornShortTurn;
  with_last = with_last || (torn && prng_.below(turn) != 0);
  if (with_last && ports.has(rotation_.port_of(control_turn_))) return reverse_[control_turn_];
  if (came_by && settings_.answers_follow && !torn) {
    if (const auto s = follow(*came_by, ports)) return s;
  }
  for (int i = 0; i < rotation_.planes(); ++i) {
    control_turn_ = static_cast<std::uint8_t>((control_turn_ + 1) % rotation_.planes());
    if (ports.has(rotation_.port_of(control_turn_))) return reverse_[control_turn_];
  }
  return std::nullopt;
}

// MRC-EV-019: an answer takes the EV that the packet came by, if that one is in service.
std::optional<EvSlot> PathSet::follow(Ev came_by, PortMask ports) {
  const auto s = find(came_by);
  if (!s || !ports.has(path(*s).port) || slots_[s->value].held || !slots_[s->value].serves())
    return std::nullopt;
  control_turn_ = static_cast<std::uint8_t>(rotation_.plane_of(path(*s).port));
  reverse_[control_turn_] = *s;
  return s;
}

std::optional<EvSlot> PathSet::find(Ev echoed) const {
  for (std::size_t i = 0; i < table_.size(); ++i) {
    const bool same =
        table_[i].ev == echoed || (echoed.value <= 0xFFFF && (table_[i].ev.value & 0xFFFF) == echoed.value);
    if (same) return EvSlot(static_cast<std::uint16_t>(i));
  }
  return std::nullopt;
}

// MRC-EV-002: ECN or a trim makes an EV miss one turn; the path works, its queue was long.
void PathSet::note_skip(Time now, EvSlot s, PathCause cause) {
  note_answered(s);
  if (cause == PathCause::ecn ? !settings_.skip_on_mark : !settings_.skip_on_trim) return;
  if (state(s) == EvState::good) change(now, s, EvState::skip, cause);
}

// MRC-EV-004: a packet that vanished without a trim takes its EV out of service.
void PathSet::note_bad(Time now, EvSlot s, PathCause cause) {
  Slot& slot = slots_[s.value];
  slot.held = 0;
  slot.tried = 0;
  if (slot.state() == EvState::assumed_bad || slot.state() == EvState::denied) return;
  count_loss(slot);
  if (!may_withdraw(s)) {
    slot.proven = 0;  // it stays because it is the last; see trusts_any()
    return;
  }
  change(now, s, EvState::assumed_bad, cause);
  slot.streak = 0;
  slot.backoff = 0;
  rest(now, slot, Duration::zero());
}

// MRC-EV-009: DENIED comes and goes by the controller's word alone.
bool PathSet::set_state(Time now, EvSlot s, EvState wanted) {
  if (s.value >= table_.size()) return false;
  s = known_as(s);
  if (wanted == EvState::denied) {
    if (state(s) != EvState::denied) change(now, s, EvState::denied, PathCause::controller);
    slots_[s.value].held = 0;
    slots_[s.value].set(Revival::none);
    return true;
  }
  if (wanted == EvState::assumed_bad && state(s) != EvState::denied) {
    note_bad(now, s, PathCause::controller);
    return true;
  }
  if (wanted != EvState::good) return false;
  return_to_service(now, s, PathCause::controller);
  return true;
}

// MRC-EV-012: a port takes all EVs of its plane along, at once, and brings them back.
void PathSet::set_port(Time now, PortId port, bool up) {
  if (!is_plane(port) || local_up_.has(port) == up) return;
  up ? local_up_.add(port) : local_up_.remove(port);
  if (up) hurry(now);
}

void PathSet::set_peer_ports(Time now, PortMask up) {
  const bool gained = (up.bits() & ~peer_up_.bits()) != 0;
  peer_up_ = up;
  if (gained) hurry(now);
}

void PathSet::change(Time now, EvSlot s, EvState to, PathCause cause) {
  Slot& slot = slots_[s.value];
  const EvState from = slot.state();
  slot.set(to);
  const auto out = [](EvState e) { return e == EvState::assumed_bad || e == EvState::denied; };
  withdrawn_ =
      static_cast<std::uint16_t>(withdrawn_ + (to == EvState::assumed_bad) - (from == EvState::assumed_bad));
  if (out(to) != out(from)) slot.streak = slot.backoff = 0;
  // MRC-EV-005: a withdrawn EV is replaced from the same plane, so that planes stay evenly loaded.
  if (out(to) && !out(from))
    rotation_.withdraw(s, [&](EvSlot r) { return slots_[r.value].state() == EvState::good; });
  if (!out(to) && out(from)) rotation_.admit(s);
  if (unit_ == s && out(to)) unit_left_ = 0;
  say_(now, PathChanged{s, path(s).port, from, to, cause});
}

// MRC-EV-006: never fewer in use than min_active. Counted over planes that work: a dead plane's EVs are no
// use.
bool PathSet::may_withdraw(EvSlot s) const {
  int in_use = 0;
  for (int p = 0; p < rotation_.planes(); ++p) {
    if (port_usable(rotation_.port_of(p))) in_use += rotation_.paths_in(p);
  }
  return in_use > settings_.min_active || !port_usable(path(s).port);
}

}  // namespace mrc::engine
