// How PathSet asks: questions to a suspect path, to a plane, to anyone; and what their answers or silence
// mean. How a withdrawn EV earns its way back is in path_revival.cc.
#include <algorithm>
#include <utility>

#include "engine/grain.h"
#include "engine/path_set.h"

namespace mrc::engine {
namespace {

// A probe id says what it is about: the top bit tells questions from revivals, so that no answer is taken for
// another.
constexpr std::uint16_t kQuestionBit = 0x8000;

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

void PathSet::note_slow(Time now, EvSlot s, Duration patience) {
  for (auto& p : probes_) {
    if (p.question != Question::suspect || p.slot != s || Duration(p.patience) >= patience) continue;
    p.patience = clamp_patience(patience);
    p.expired = p.expired && p.overdue(now);
    if (p.sent) next_question_at_ = std::min(next_question_at_, now + patience - p.sent_at.age(now) + kGrain);
  }
}

void PathSet::acquit(EvSlot s) {
  if (!is_suspect(s)) return;
  for (auto& p : probes_) {
    if (p.question == Question::suspect && p.slot == s) p.question = Question::free;
  }
  slots_[s.value].held = 0;
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

// MRC-EV-018: paths are asked before there is anything to carry, a few at a time.
void PathSet::ask_ahead(Duration patience) {
  const auto open = [](const PendingProbe& p) { return p.question == Question::suspect; };
  auto room = settings_.ask_ahead - std::count_if(probes_.begin(), probes_.end(), open);
  for (; room > 0 && ahead_ < slots_.size(); ++ahead_) {
    const EvSlot s(ahead_);
    if (state(s) != EvState::good || is_suspect(s) || !port_usable(path(s).port)) continue;
    if (slots_[ahead_].proven) continue;
    if (!suspect(s, patience)) return;
    --room;
  }
}

/// A plane of these has an EV that may yet answer: the plane is not deaf, and the EV not being asked.
bool PathSet::hears_unasked(PortMask planes) const {
  for (int p = 0; p < rotation_.planes(); ++p) {
    if (!planes.has(rotation_.port_of(p)) || deaf_.has(rotation_.port_of(p))) continue;
    for (const std::uint16_t s : rotation_.in_rotation(p)) {
      if (!slots_[s].held) return true;
    }
  }
  return false;
}

void PathSet::ask_anyone(Time now, Duration patience) {
  PendingProbe& p = probes_[kSharedProbes];
  if (p.open()) return;
  const Slot& slot = slots_[freshest_.value];
  const PortMask talk = talking(usable_ports());
  // All that talk were asked in vain: then every other plane has its turn, although it is thought quiet, or
  // its EV suspected. Else a dead plane could be asked for ever beside a living one.
  const bool in_vain = !hears_unasked(talk);
  const bool fit =
      in_vain ? slot.serves() : slot.state() == EvState::good && !slot.held && talk.has(path(freshest_).port);
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
    const bool plane = quiet_.has(path(p.slot).port);
    if (!plane && !p.told) silent_ = p.slot.value;
    return Silence{p.slot, plane};
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

std::optional<EvSlot> PathSet::poll_silent_ev() {
  if (silent_ == kNoEv) return std::nullopt;
  return EvSlot(std::exchange(silent_, kNoEv));
}

bool PathSet::doubt_ev(EvSlot s, Duration patience) {
  const bool in_use = s.value < slots_.size() && state(s) == EvState::good && port_usable(path(s).port);
  if (!in_use || is_suspect(s) || !suspect(s, patience)) return false;
  for (auto& p : probes_) p.told = p.told || (p.question == Question::suspect && p.slot == s);
  return true;
}

bool PathSet::doubt_plane(PortId port, Duration patience) {
  if (!is_plane(port) || !port_usable(port) || quiet_.has(port)) return false;
  // When several planes are in doubt, each needs its question before any has two.
  const bool alone =
      std::none_of(probes_.begin(), probes_.end() - 1, [](const PendingProbe& p) { return p.open(); });
  int asked = 0;
  for (const std::uint16_t i : rotation_.in_rotation(rotation_.plane_of(port))) {
    const EvSlot s(i);
    if (state(s) != EvState::good || is_suspect(s)) continue;
    if (!suspect(s, patience) || ++asked == kPlaneWitnesses || !alone) break;
  }
  if (asked > 0) quiet_.add(port);
  return asked > 0;
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
    // MRC-EV-019: packets come by it, so answers would take it again and again.
    const bool follows = p.question == Question::reverse && settings_.answers_follow;
    if (p.question != Question::suspect) p.question = Question::free;
    if (follows && state(p.slot) == EvState::good) suspect(p.slot, Duration(p.patience));
  }
}

Time PathSet::next_timeout() const { return std::min(next_revival_, next_question_at_); }

}  // namespace mrc::engine
