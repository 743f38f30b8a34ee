// EV profiles: the set of paths that a QP sprays over.
#include <algorithm>
#include <cerrno>

#include "node/expansion.h"
#include "node/profile_rules.h"

namespace mrc::node {
namespace {

bool changes_set(const EvChange& change) {
  return change.mode || change.format || change.count || change.fields;
}

bool changes_attributes(const EvChange& change) {
  return changes_set(change) || change.min_active || change.event_mask || change.vendor;
}

int check_count(std::uint32_t count, const EvSurroundings& around, const ProfileLimits& limits) {
  if (count == 0 || count % limits.ev_count_align != 0) return EINVAL;
  return count > limits.evs_per_profile || count > around.free_evs ? E2BIG : 0;
}

/// Fields that the controller left out: explicit EVs then are the wire's bits themselves, automatic ones need
/// none.
int complete_fields(const EvSurroundings& around, EvProfile& next) {
  if (*next.mode == EvMode::automatic) {
    // Without a format they are 32 bits; an SRv6 path is nothing that a device could think up.
    const bool srv6 = around.format != nullptr && around.format->mode == FormatMode::srv6;
    const bool named = next.format != 0 && around.format == nullptr;
    return next.fields.empty() && !srv6 && !named ? 0 : EINVAL;
  }
  if (around.format == nullptr || around.format->widths.empty()) return EINVAL;
  if (next.fields.empty() && *next.mode == EvMode::explicit_)
    next.fields = whole_fields(around.format->widths);
  return check_fields(next.fields, around.format->widths);
}

void remake_slots(const EvSurroundings& around, const ProfileLimits& limits, EvProfile& next) {
  switch (*next.mode) {
    case EvMode::automatic: {
      const bool udp = around.format != nullptr && around.format->mode == FormatMode::udp;
      next.slots = pick_automatic(next.count, limits.ports, udp);
      break;
    }
    case EvMode::explicit_: next.slots.assign(next.count, {}); break;
    case EvMode::generated: next.slots = generate(next.fields, next.count, limits.ports); break;
  }
}

// MRC-CTL-012: an EV profile goes OFFLINE with mode, format, count and fields.
int check_offline(const EvSurroundings& around, const ProfileLimits& limits, EvProfile& next) {
  if (!next.mode) return EINVAL;
  if (const int error = check_count(next.count, around, limits); error != 0) return error;
  if (const int error = complete_fields(around, next); error != 0) return error;
  return next.min_active && *next.min_active > next.count ? EINVAL : 0;
}

// MRC-CTL-013: it goes ONLINE with its least number of active EVs and its event mask, in explicit mode with
// every slot written, and over a format that is ONLINE itself.
int check_online(const EvSurroundings& around, const EvProfile& next) {
  if (!next.min_active || !next.event_mask) return EINVAL;
  if (*next.mode == EvMode::automatic) return 0;
  if (around.format == nullptr || around.format->state != ProfileState::online) return EINVAL;
  const bool hole = std::any_of(next.slots.begin(), next.slots.end(),
                                [](const EvSlotState& slot) { return slot.value.unpopulated(); });
  return hole ? EINVAL : 0;
}

void take(const EvChange& change, EvProfile& next) {
  if (change.mode) next.mode = change.mode;
  if (change.format) next.format = *change.format;
  if (change.count) next.count = *change.count;
  if (change.fields) next.fields = *change.fields;
  if (change.min_active) next.min_active = change.min_active;
  if (change.event_mask) next.event_mask = change.event_mask;
  if (change.vendor) next.vendor = *change.vendor;
}

int check_request(const EvChange& change, const EvProfile& profile, const ProfileLimits& limits) {
  if (change.expected && *change.expected != profile.state) return EINVAL;
  if (!may_go(profile.state, change.state.value_or(profile.state))) return EINVAL;
  if (change.event_mask && (*change.event_mask & ~kEvStates) != 0) return EINVAL;
  const int operations =
      (change.fields ? 1 : 0) + (change.replaces.empty() ? 0 : 1) + (change.states.empty() ? 0 : 1);
  if (operations > 1) return EINVAL;
  if (std::max(change.replaces.size(), change.states.size()) > limits.op_entries) return E2BIG;
  return 0;
}

int check_leaving_online(const EvChange& change, const EvProfile& profile) {
  if (profile.state != ProfileState::online) return 0;
  if (changes_attributes(change) || !change.replaces.empty()) return EINVAL;
  return change.state.value_or(profile.state) != ProfileState::online && profile.users > 0 ? EBUSY : 0;
}

}  // namespace

Outcome change_ev(const EvChange& change, const EvSurroundings& around, const ProfileLimits& limits,
                  EvProfile& profile) {
  if (const int error = check_request(change, profile, limits); error != 0) return {error};
  if (const int error = check_leaving_online(change, profile); error != 0) return {error};
  EvProfile next = profile;
  next.state = change.state.value_or(profile.state);
  if (next.state == ProfileState::init) {
    if (changes_attributes(change) || !change.replaces.empty() || !change.states.empty()) return {EINVAL};
    profile = {};
    return {};
  }
  take(change, next);
  // A new mode or format makes fields meaningless that were written for the old one.
  if ((change.mode || change.format) && !change.fields && profile.state != ProfileState::init)
    next.fields.clear();
  if (next.state != ProfileState::online || changes_set(change)) {
    if (const int error = check_offline(around, limits, next); error != 0) return {error};
  }
  if (profile.state == ProfileState::init || changes_set(change)) remake_slots(around, limits, next);

  Outcome outcome = replace_evs(change.replaces, limits, next);
  if (outcome.error == 0) outcome = set_ev_states(change.states, next);
  if (outcome.error != 0)
    next.state = profile.state;  // entries before the failing one stay; the transition does not
  if (next.state == ProfileState::online && profile.state != ProfileState::online) {
    if (const int error = check_online(around, next); error != 0) return {error};
  }
  profile = std::move(next);
  return outcome;
}

}  // namespace mrc::node
