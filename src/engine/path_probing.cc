// How PathSet asks: the question to a suspect path, and the bursts by which a withdrawn EV earns its way
// back.
#include <algorithm>
#include <utility>

#include "engine/path_set.h"

namespace mrc::engine {
namespace {

// A probe id says what it is about: the top bit tells questions from revivals, so that no answer is taken for
// another.
constexpr std::uint16_t kQuestionBit = 0x8000;
constexpr int kBurst = 3;
constexpr Duration kGrain = 64ns;  // of Ticks

Time time_of(Ticks due, Time now) { return now - due.age(now); }

std::uint32_t clamp_patience(Duration d) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(d.count(), 0, UINT32_MAX));
}

}  // namespace

/// Whoever takes it has something to send.
PendingProbe* PathSet::free_probe() {
  question_due_ = true;
  for (std::size_t i = 0; i < kSharedProbes; ++i) {
    if (!probes_[i].open()) return &probes_[i];
  }
  return nullptr;
}

bool PathSet::suspect(EvSlot s, Duration patience) {
  PendingProbe* const p = free_probe();
  if (p == nullptr) return false;
  // A quiet plane has its question: the rest of the table is for planes that are not asked yet.
  const bool crowded = p - probes_.data() >= static_cast<std::ptrdiff_t>(kSharedProbes / 2);
  if (crowded && quiet_.has(path(s).port)) return false;
  *p = {.question = Question::suspect, .slot = s, .patience = clamp_patience(patience)};
  slots_[s.value].held = 1;
  if (unit_ == s) unit_left_ = 0;
  return true;
}

bool PathSet::is_asking(Question q) const {
  return std::any_of(probes_.begin(), probes_.end(), [&](const PendingProbe& p) { return p.question == q; });
}

void PathSet::note_quiet(PortId port) {
  for (const auto& p : probes_) {
    if (p.question == Question::suspect && path(p.slot).port == port) quiet_.add(port);
  }
}

std::optional<TxOrder> PathSet::asked(PortId port) const {
  for (const auto& p : probes_) {
    if (p.question == Question::suspect && p.sent && path(p.slot).port == port) return p.order;
  }
  return std::nullopt;
}

void PathSet::ask_anyone(Time now, Duration patience) {
  PendingProbe& p = probes_[kSharedProbes];
  if (p.open()) return;
  const Slot& slot = slots_[freshest_.value];
  const bool fit =
      slot.state() == EvState::good && !slot.held && talking(usable_ports()).has(path(freshest_).port);
  const auto s = fit ? std::optional(freshest_) : choose(now, usable_ports());
  if (!s) return;
  question_due_ = true;
  p = {.question = Question::anyone, .slot = *s, .patience = clamp_patience(patience)};
}

// MRC-EV-011: a QP that only receives learns its reverse paths from one probe per round trip.
void PathSet::ask_reverse(Duration patience) {
  if (is_asking(Question::reverse)) return;
  PendingProbe* const p = free_probe();
  if (p == nullptr) return;
  reverse_turn_ = static_cast<std::uint8_t>((reverse_turn_ + 1) % rotation_.planes());
  if (!port_usable(rotation_.port_of(reverse_turn_))) return;
  *p = {.question = Question::reverse, .slot = reverse_[reverse_turn_], .patience = clamp_patience(patience)};
}

/// Its plane is avoided for control packets until an EV of it answers; the next question goes to another EV.
void PathSet::note_deaf(EvSlot s) {
  const int plane = rotation_.plane_of(path(s).port);
  deaf_.add(path(s).port);
  const auto run = rotation_.in_rotation(plane);
  if (!run.empty()) reverse_[plane] = EvSlot(run[prng_.below(static_cast<std::uint32_t>(run.size()))]);
}

/// The EV that the next usable plane uses for control packets: who got no answer on one plane asks another.
EvSlot PathSet::control_ev_after(EvSlot s) const {
  int plane = rotation_.plane_of(path(s).port);
  for (int i = 0; i < rotation_.planes(); ++i) {
    plane = (plane + 1) % rotation_.planes();
    if (port_usable(rotation_.port_of(plane))) break;
  }
  return reverse_[static_cast<std::size_t>(plane)];
}

bool PathSet::in_doubt() const {
  return std::any_of(probes_.begin(), probes_.end(),
                     [](const PendingProbe& p) { return p.open() && p.expired; });
}

std::optional<PathSet::ProbeToSend> PathSet::poll_probe(Time now, PortMask room, TxOrder order) {
  const PortMask open = room & usable_ports();
  if (question_due_) {
    if (auto p = poll_question(now, open, order)) return p;
  }
  if (revival_due_) return poll_revival(now, open);
  return std::nullopt;
}

std::optional<PathSet::ProbeToSend> PathSet::poll_question(Time now, PortMask open, TxOrder order) {
  question_due_ = false;
  for (std::size_t i = 0; i < probes_.size(); ++i) {
    PendingProbe& p = probes_[i];
    if (!p.open() || p.sent) continue;
    question_due_ = true;  // this one, or the next when this one leaves
    if (!open.has(path(p.slot).port)) continue;
    p.sent = true;
    p.sent_at = Ticks(now);
    next_question_at_ = std::min(next_question_at_, now + Duration(p.patience) + kGrain);
    p.order = order;
    p.id = static_cast<std::uint16_t>(kQuestionBit | next_question_++ << 3 | i);
    return ProbeToSend{p.slot, p.id};
  }
  return std::nullopt;
}

std::optional<PathSet::Answer> PathSet::on_probe_answer(Time now, std::uint16_t id) {
  if ((id & kQuestionBit) == 0) return on_revival_answer(now, id);
  PendingProbe& p = probes_[id % probes_.size()];
  if (!p.open() || !p.sent || p.id != id) return std::nullopt;
  const Answer answer{p.slot, p};
  p.question = Question::free;
  slots_[p.slot.value].held = 0;
  return answer;
}

std::optional<PathSet::Silence> PathSet::poll_silent(Time now, Ticks heard) {
  for (auto& p : probes_) {
    if (p.question != Question::suspect || !p.overdue(now)) continue;
    p.expired = true;
    if (p.sent_at.after(heard)) continue;
    p.question = Question::free;
    slots_[p.slot.value].held = 0;
    return Silence{p.slot, quiet_.has(path(p.slot).port)};
  }
  return std::nullopt;
}

void PathSet::give_up_plane(Time now, PortId port) {
  quiet_.remove(port);
  given_up_ = port.value;
  for (auto& p : probes_) {
    if (p.question == Question::suspect && path(p.slot).port == port) p.question = Question::free;
  }
  for (std::size_t i = 0; i < table_.size(); ++i) {
    if (table_[i].port == port) note_bad(now, EvSlot(static_cast<std::uint16_t>(i)), PathCause::silence);
  }
}

std::optional<PortId> PathSet::poll_given_up() {
  if (given_up_ == 0) return std::nullopt;
  return PortId(std::exchange(given_up_, std::uint8_t{0}));
}

bool PathSet::doubt_plane(PortId port, Duration patience) {
  if (!is_plane(port) || !port_usable(port) || quiet_.has(port)) return false;
  for (const std::uint16_t i : rotation_.in_rotation(rotation_.plane_of(port))) {
    const EvSlot s(i);
    if (state(s) != EvState::good || is_suspect(s)) continue;
    if (!suspect(s, patience)) return false;
    quiet_.add(port);
    return true;
  }
  return false;
}

// --- revival ---

std::uint16_t PathSet::revival_id(EvSlot s, int burst, int index) {
  return static_cast<std::uint16_t>(s.value << 5 | burst << 2 | index);
}

/// MRC-EV-008: uniform loss must not starve a QP of paths, so only an EV that loses clearly more than its
/// share has to answer more often than the default before it is trusted again.
int PathSet::needed(const Slot& slot) const {
  const int share = static_cast<int>(2 * recent_losses_ / slots_.size());
  const int excess = std::clamp(static_cast<int>(slot.losses) - 1 - share, 0, 4);
  return std::min<int>(settings_.probes_to_return << excess, settings_.max_probes_to_return);
}

void PathSet::count_loss(Slot& slot) {
  if (slot.losses < 63) slot.losses = (slot.losses + 1) & 63;
  if (++recent_losses_ < 4 * slots_.size()) return;
  recent_losses_ = 0;
  for (auto& s : slots_) {
    s.losses = s.losses / 2 & 63;
    recent_losses_ += s.losses;
  }
}

int PathSet::burst_size(const Slot& slot) const {
  return std::clamp(needed(slot) - static_cast<int>(slot.streak), 1, kBurst);
}

void PathSet::rest(Time now, Slot& slot, Duration wait) {
  slot.set(Revival::resting);
  slot.asked = 0;
  slot.unanswered = 0;
  slot.due = Ticks(now + wait);
  if (wait == Duration::zero())
    revival_due_ = true;
  else
    next_revival_ = std::min(next_revival_, now + wait);
}

/// What is due for one withdrawn EV; true when it wants to send a probe now.
bool PathSet::revive(Time now, EvSlot s) {
  Slot& slot = slots_[s.value];
  const bool due = slot.due.age(now) >= Duration::zero();
  if (slot.revival() == Revival::waiting && due) end_burst(now, s);
  if (slot.revival() == Revival::resting && slot.due.age(now) >= Duration::zero()) {
    slot.set(Revival::asking);
    slot.burst = (slot.burst + 1) & 7;
  }
  return slot.revival() == Revival::asking;
}

/// No EV of this plane is in use: one at a time is asked for all.
bool PathSet::is_lost(PortId port) const { return rotation_.active_in(rotation_.plane_of(port)) == 0; }

/// Lost planes of which an EV is being asked.
PortMask PathSet::scouted() const {
  PortMask planes;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    const bool asked = slot.revival() == Revival::asking || slot.revival() == Revival::waiting;
    if (slot.state() == EvState::assumed_bad && asked && is_lost(table_[i].port)) planes.add(table_[i].port);
  }
  return planes;
}

std::optional<PathSet::ProbeToSend> PathSet::poll_revival(Time now, PortMask open) {
  revival_due_ = false;
  next_revival_ = kNever;
  std::optional<ProbeToSend> probe;
  PortMask asked = scouted();
  for (std::size_t i = 0; i < slots_.size() && withdrawn_ > 0; ++i) {
    Slot& slot = slots_[i];
    if (slot.state() != EvState::assumed_bad || !port_usable(table_[i].port)) continue;
    const EvSlot s(static_cast<std::uint16_t>(i));
    // MRC-EV-015: a dead plane is asked by one EV; asking by all would crowd out the questions of the living.
    if (slot.revival() == Revival::resting && asked.has(table_[i].port)) continue;
    const bool asks = revive(now, s);
    if (asks && is_lost(table_[i].port)) asked.add(table_[i].port);
    if (asks) {
      if (probe || !open.has(table_[i].port)) {
        revival_due_ = true;  // next time, or when its port has room
        continue;
      }
      probe = ProbeToSend{s, revival_id(s, static_cast<int>(slot.burst), static_cast<int>(slot.asked))};
      slot.unanswered = (slot.unanswered | 1u << slot.asked) & 7;
      slot.asked = (slot.asked + 1) & 3;
      if (static_cast<int>(slot.asked) < burst_size(slot)) {
        revival_due_ = true;
        continue;
      }
      slot.set(Revival::waiting);
      slot.due = Ticks(now + patience_);
    }
    next_revival_ = std::min(next_revival_, std::max(time_of(slot.due, now), now + kGrain));
  }
  return probe;
}

void PathSet::end_burst(Time now, EvSlot s) {
  Slot& slot = slots_[s.value];
  slot.streak = 0;
  // MRC-EV-007: unanswered probes back off, up to the configured longest interval.
  const Duration wait = patience_ * (std::int64_t{1} << slot.backoff);
  if (wait < settings_.probe_backoff_max) slot.backoff = (slot.backoff + 1) & 31;
  const Duration pause = std::min(wait, settings_.probe_backoff_max);
  const bool others = is_lost(path(s).port) && rest_plane(now, s, pause);
  rest(now, slot, others ? 2 * pause : pause);
}

/// A lost plane's EV did not answer: another is asked, when this one would have been.
bool PathSet::rest_plane(Time now, EvSlot scout, Duration pause) {
  bool any = false;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (i == scout.value || table_[i].port != path(scout).port || slot.revival() != Revival::resting)
      continue;
    slot.backoff = slots_[scout.value].backoff;
    rest(now, slot, pause);
    any = true;
  }
  return any;
}

std::optional<PathSet::Answer> PathSet::on_revival_answer(Time now, std::uint16_t id) {
  const EvSlot s(static_cast<std::uint16_t>(id >> 5));
  if (s.value >= slots_.size()) return std::nullopt;
  Slot& slot = slots_[s.value];
  const std::uint32_t bit = 1u << (id & 3);
  if (slot.state() != EvState::assumed_bad || slot.burst != (id >> 2 & 7u) || (slot.unanswered & bit) == 0)
    return std::nullopt;
  slot.unanswered = slot.unanswered & ~bit & 7u;
  slot.streak = std::min<std::uint32_t>(slot.streak + 1, 63) & 63;
  slot.backoff = 0;
  if (static_cast<int>(slot.streak) >= needed(slot)) {
    return_to_service(now, s, PathCause::probed);
  } else if (slot.revival() == Revival::waiting && slot.unanswered == 0) {
    rest(now, slot, Duration::zero());
  }
  return Answer{s, std::nullopt};
}

void PathSet::return_to_service(Time now, EvSlot s, PathCause cause) {
  const bool first = is_lost(path(s).port);
  slots_[s.value].set(Revival::none);
  slots_[s.value].held = 0;
  if (state(s) != EvState::good) change(now, s, EvState::good, cause);
  if (first) hurry(now, path(s).port);
}

void PathSet::hurry(Time now, std::optional<PortId> plane) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (slot.state() != EvState::assumed_bad || slot.revival() != Revival::resting) continue;
    if (plane && table_[i].port != *plane) continue;
    slot.backoff = 0;
    rest(now, slot, Duration::zero());
  }
}

void PathSet::handle_timeout(Time now) {
  if (next_revival_ <= now) {
    revival_due_ = true;
    next_revival_ = kNever;
  }
  if (next_question_at_ > now) return;
  next_question_at_ = kNever;
  for (auto& p : probes_) {
    if (!p.open() || !p.sent || p.expired) continue;
    if (!p.overdue(now)) {
      next_question_at_ =
          std::min(next_question_at_, now + Duration(p.patience) - p.sent_at.age(now) + kGrain);
      continue;
    }
    p.expired = true;
    if (p.question != Question::suspect) note_deaf(p.slot);
    if (p.question == Question::anyone) freshest_ = control_ev_after(p.slot);
    if (p.question != Question::suspect) p.question = Question::free;
  }
}

Time PathSet::next_timeout() const { return std::min(next_revival_, next_question_at_); }

}  // namespace mrc::engine
