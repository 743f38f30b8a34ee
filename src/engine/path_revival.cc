// How a withdrawn EV earns its way back: bursts of probes, backing off while nobody answers; of a lost plane
// one EV at a time.
#include <algorithm>

#include "engine/grain.h"
#include "engine/path_set.h"

namespace mrc::engine {
namespace {

constexpr int kBurst = 3;

Time time_of(Ticks due, Time now) { return now - due.age(now); }

}  // namespace

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

/// Something in service did not fall silent. Of two EVs the wrong one may have been withdrawn first, and then
/// the other cannot be: where nothing in service is trusted, one answer is better than none.
bool PathSet::trusts_any() const {
  for (int p = 0; p < rotation_.planes(); ++p) {
    if (!port_usable(rotation_.port_of(p))) continue;
    for (const std::uint16_t s : rotation_.in_rotation(p)) {
      if ((slots_[s].proven || slots_[s].losses == 0) && !slots_[s].held) return true;
    }
  }
  return false;
}

void PathSet::count_loss(Slot& slot) {
  if (slot.losses < 63) slot.losses = (slot.losses + 1) & 63;
  if (++recent_losses_ < 4 * slots_.size()) return;
  recent_losses_ = 0;
  for (auto& s : slots_) {
    s.losses = s.losses / 2 & 63;
    recent_losses_ = static_cast<std::uint16_t>(recent_losses_ + s.losses);
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
      slot.due = Ticks(now + patience());
    }
    next_revival_ = std::min(next_revival_, std::max(time_of(slot.due, now), now + kGrain));
  }
  return probe;
}

void PathSet::end_burst(Time now, EvSlot s) {
  Slot& slot = slots_[s.value];
  slot.streak = 0;
  // MRC-EV-007: unanswered probes back off, up to the configured longest interval.
  const Duration wait = patience() * (std::int64_t{1} << slot.backoff);
  const Duration longest = settings_.probe_backoff_max_us * 1us;
  if (wait < longest) slot.backoff = (slot.backoff + 1) & 31;
  const Duration pause = std::min(wait, longest);
  const bool others = is_lost(path(s).port) && rest_plane(now, s, pause);
  rest(now, slot, others ? 2 * pause : pause);
}

/// A lost plane's EV did not answer: the next one is asked, when this one would have been. In turn, because
/// any number of them may take the same dead cable.
bool PathSet::rest_plane(Time now, EvSlot scout, Duration pause) {
  const auto others = [&](std::size_t from, std::size_t to, Duration wait) {
    bool any = false;
    for (std::size_t i = from; i < to; ++i) {
      Slot& slot = slots_[i];
      if (table_[i].port != path(scout).port || slot.revival() != Revival::resting) continue;
      slot.backoff = slots_[scout.value].backoff;
      rest(now, slot, wait);
      any = true;
    }
    return any;
  };
  const bool later = others(scout.value + 1u, slots_.size(), pause);
  return others(0, scout.value, later ? 2 * pause : pause) || later;
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
  if (static_cast<int>(slot.streak) >= needed(slot) || !trusts_any()) {
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
  if (state(s) != EvState::good) {
    change(now, s, EvState::good, cause);
    if (settings_.late_packets != 0) slots_[s.value].backoff = kQuarters;  // as one that was late
  }
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

}  // namespace mrc::engine
