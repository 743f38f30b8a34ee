// A port in verbs' terms: state, MTU, and the link speed as the pair of width and per-lane speed that verbs
// know.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>

#include "lib/device_types.h"

namespace mrc::verbs {

ibv_port_attr port_attributes(const lib::PortStatus& status, std::size_t gid_count);

}  // namespace mrc::verbs
