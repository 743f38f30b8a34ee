// Which host of a fabric this node is, by the addresses of its interfaces.
#pragma once

#include "base/result.h"
#include "topo/topo.h"

namespace mrc::map {

/// An error, with what to do, when this node has no address of that host: every answer would go elsewhere,
/// and all its links would seem dead.
Status check_this_node(const topo::Topology& topo, topo::HostId host);

}  // namespace mrc::map
