// Congestion control profiles: an algorithm, and its parameters.
#include <cerrno>

#include "node/profile_rules.h"

namespace mrc::node {
namespace {

/// MRC-CTL-015: OFFLINE with an algorithm, ONLINE with its configuration; switched off there is nothing to
/// configure.
int check_complete(const CcProfile& profile) {
  if (profile.state == ProfileState::init) return 0;
  if (!profile.algorithm) return EINVAL;
  if (profile.config && !engine::check_nscc(*profile.config)) return EINVAL;
  const bool needs_config = *profile.algorithm != engine::CcAlgorithm::off;
  return profile.state == ProfileState::online && needs_config && !profile.config ? EINVAL : 0;
}

bool changes_attributes(const CcChange& change) { return change.algorithm || change.config || change.vendor; }

}  // namespace

int change_cc(const CcChange& change, CcProfile& profile) {
  CcProfile next = profile;
  if (change.expected && *change.expected != profile.state) return EINVAL;
  next.state = change.state.value_or(profile.state);
  if (!may_go(profile.state, next.state)) return EINVAL;
  if (profile.state == ProfileState::online) {
    if (changes_attributes(change)) return EINVAL;
    if (next.state != ProfileState::online && profile.users > 0) return EBUSY;
  }
  if (next.state == ProfileState::init) {
    if (changes_attributes(change)) return EINVAL;
    profile = {};
    return 0;
  }
  if (change.algorithm) next.algorithm = change.algorithm;
  if (change.config) next.config = change.config;
  if (change.vendor) next.vendor = *change.vendor;
  if (const int error = check_complete(next); error != 0) return error;
  profile = std::move(next);
  return 0;
}

}  // namespace mrc::node
