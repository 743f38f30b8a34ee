// Who hears of an EV's change of state: controllers through their queues, QPs through the device that
// listens.
#include "node/local_profiles.h"

namespace mrc::node {

void LocalProfiles::announce(std::uint64_t id, const EvProfile& profile, const EvSlotState& slot) {
  const EvState state = slot.state();
  if ((profile.event_mask.value_or(0) & static_cast<std::uint32_t>(state)) == 0) return;
  for (auto* queue : queues_) queue->push({id, slot.value, state, 0});
}

std::vector<LocalProfiles::Denial> LocalProfiles::announce_changes(std::uint64_t id, const EvProfile& before,
                                                                   const EvProfile& after) {
  std::vector<Denial> denials;
  for (std::uint32_t i = 0; i < after.slots.size() && i < before.slots.size(); ++i) {
    if (before.slots[i].state() != after.slots[i].state()) announce(id, after, after.slots[i]);
    if (before.slots[i].denied != after.slots[i].denied) denials.push_back({i, after.slots[i].denied});
  }
  return denials;
}

void LocalProfiles::report_ev(std::uint64_t id, std::uint32_t slot, bool bad) {
  const std::lock_guard lock(mutex_);
  const auto found = evs_.find(id);
  if (found == evs_.end() || slot >= found->second.slots.size()) return;
  EvSlotState& entry = found->second.slots[slot];
  const EvState before = entry.state();
  if (bad) {
    ++entry.bad_reports;
  } else if (entry.bad_reports > 0) {  // the controller may have wiped the slate meanwhile
    --entry.bad_reports;
  }
  if (entry.state() != before) announce(id, found->second, entry);
}

void LocalProfiles::listen(ProfileListener* listener) {
  const std::lock_guard lock(listeners_mutex_);
  listeners_.insert(listener);
}

void LocalProfiles::unlisten(ProfileListener* listener) {
  const std::lock_guard lock(listeners_mutex_);
  listeners_.erase(listener);
}

void LocalProfiles::subscribe(EvEventQueue* queue) {
  const std::lock_guard lock(mutex_);
  queues_.insert(queue);
}

void LocalProfiles::unsubscribe(EvEventQueue* queue) {
  const std::lock_guard lock(mutex_);
  queues_.erase(queue);
}

}  // namespace mrc::node
