// Nodes of a lab that are not kernels but `mrc switch`'s switch, which trims and marks as kernels do not:
// each is a process in its node's namespace that ends with the lab.
#pragma once

#include <string>

#include "lab/wiring.h"

namespace mrc::lab {

/// Starts a switch on every soft node, and returns when all of them forward. The processes are children of
/// the caller, which must have one thread, and die with it.
Status start_soft_nodes(const Wiring& wiring);

/// Says a line of lab/switch_control.h to the switch on a node. Leaves the process in that node's namespace.
Result<std::string> tell_node(const Wiring& wiring, topo::Node node, const std::string& line);

/// Under which name a node's switch listens, in its own namespace; `mrc switch tell` knows it too.
std::string switch_control_name(const std::string& node);

}  // namespace mrc::lab
