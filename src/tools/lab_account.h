// What the switches of a lab have counted: for a transfer that stands still, to tell a path that swallows
// from an end that is silent.
#pragma once

#include <string>

#include "lab/lab.h"

namespace mrc::tools {

/// One line per switch: packets in, out and dropped at each port; of a switch of ours what it says itself.
/// REQUIRES: one thread.
std::string switch_account(lab::Lab& lab);

}  // namespace mrc::tools
