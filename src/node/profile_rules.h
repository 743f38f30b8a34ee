// The state machines of the three kinds of profile, as functions on values: what a change needs, and what it
// does.
//
// Each takes a profile as it is and gives it as it will be, or an errno with nothing changed. What other
// profiles and QPs have to say (is the format online, is the profile in use, is there room) comes in as an
// argument.
#pragma once

#include "base/result.h"
#include "node/profile_types.h"

namespace mrc::node {

/// May a profile go from one state to another? Staying where it is always may.
bool may_go(ProfileState from, ProfileState to);

struct FormatSurroundings {
  bool used_online = false;  // an EV profile that is ONLINE names it
};
int change_format(const FormatChange& change, const FormatSurroundings& around, const ProfileLimits& limits,
                  FormatProfile& profile);

struct EvSurroundings {
  const FormatProfile* format =
      nullptr;                 // the one that the profile names after the change, if there is such a one
  std::uint32_t free_evs = 0;  // of all, with those of this profile
};
/// Entries before a failing one take effect; anything else is all or nothing.
Outcome change_ev(const EvChange& change, const EvSurroundings& around, const ProfileLimits& limits,
                  EvProfile& profile);

int change_cc(const CcChange& change, CcProfile& profile);

/// The EVs of a generated profile: all of them, spread over their space, when they are fewer than `count`,
/// again from the start; ports take turns.
std::vector<EvSlotState> generate(const std::vector<EvField>& fields, std::uint32_t count,
                                  std::uint32_t ports);

/// The EVs of an automatic profile: different source ports of the dynamic range for each, ports take turns.
/// `udp`: only the source port can carry them.
std::vector<EvSlotState> pick_automatic(std::uint32_t count, std::uint32_t ports, bool udp);

/// The two steps of change_ev that work on slots.
Outcome replace_evs(const std::vector<EvReplace>& entries, const ProfileLimits& limits, EvProfile& profile);
Outcome set_ev_states(const std::vector<EvSetState>& entries, EvProfile& profile);

}  // namespace mrc::node
