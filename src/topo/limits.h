// What can not be built, wired or named, each as a sentence with a remedy.
#pragma once

#include "base/result.h"
#include "topo/spec.h"

namespace mrc::topo {

/// The spec with its defaults filled in (hosts = 0 becomes all of them; unused tiers become 0), or why it
/// will not do.
Result<Spec> check(const Spec& spec);

}  // namespace mrc::topo
