// What survives a restart of mrcd: profiles, denied EVs and disabled ports of each device, in one file.
//
// Written whole to a new file that then takes the old one's place, so that there is always one that is whole.
// Read strictly; and profiles are made again by the same rules that controllers' requests go through, so no
// file can bring mrcd into a state that a controller could not.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "daemon/device_state.h"

namespace mrc::daemon {

/// An empty path stores nothing.
Status save_state(const std::string& path, const Devices& devices);
/// A file that is not there is no error; one that may not be read is. One that cannot be understood is put
/// aside, with a line on stderr.
Status load_state(const std::string& path, Devices& devices);

}  // namespace mrc::daemon
