// From a profile to the paths of a QP.
#pragma once

#include "node/profile_store.h"

namespace mrc::node {

/// REQUIRES: the profile is ONLINE; `format` is the one that it names, null for an automatic profile without
/// one.
EvSet resolve(const EvProfile& profile, const FormatProfile* format);

}  // namespace mrc::node
