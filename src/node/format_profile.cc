// EV format profiles: the widths of the fields that an EV becomes on the wire.
#include <cerrno>

#include "node/expansion.h"
#include "node/profile_rules.h"

namespace mrc::node {

bool may_go(ProfileState from, ProfileState to) {
  const auto distance = static_cast<int>(to) - static_cast<int>(from);
  return distance >= -1 && distance <= 1;
}

namespace {

/// What a transition needs, once the change's attributes are in. 0 or EINVAL.
int check_complete(const FormatProfile& profile) {
  if (profile.state == ProfileState::init) return 0;
  if (!profile.mode) return EINVAL;
  return profile.state == ProfileState::online && profile.widths.empty() ? EINVAL : 0;
}

bool changes_attributes(const FormatChange& change) { return change.mode || change.widths || change.vendor; }

}  // namespace

// MRC-CTL-011: a format goes OFFLINE with its mode, ONLINE with its fields, and while ONLINE it can only be
// queried.
int change_format(const FormatChange& change, const FormatSurroundings& around, const ProfileLimits& limits,
                  FormatProfile& profile) {
  FormatProfile next = profile;
  if (change.expected && *change.expected != profile.state) return EINVAL;
  next.state = change.state.value_or(profile.state);
  if (!may_go(profile.state, next.state)) return EINVAL;
  const bool leaves_online = profile.state == ProfileState::online && next.state != ProfileState::online;
  if (leaves_online && around.used_online) return EBUSY;
  if (profile.state == ProfileState::online && changes_attributes(change)) return EINVAL;
  if (next.state == ProfileState::init) {
    if (changes_attributes(change)) return EINVAL;
    profile = {};
    return 0;
  }
  if (change.mode) next.mode = change.mode;
  if (change.widths) next.widths = *change.widths;
  if (change.vendor) next.vendor = *change.vendor;
  if (const int error = check_complete(next); error != 0) return error;
  if ((static_cast<std::uint32_t>(*next.mode) & limits.format_modes) == 0) return EINVAL;
  if (!next.widths.empty()) {
    if (const int error = check_widths(*next.mode, next.widths, limits.format_fields); error != 0)
      return error;
  }
  profile = std::move(next);
  return 0;
}

}  // namespace mrc::node
