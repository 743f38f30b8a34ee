// What a node and its processes tell, as metrics. Names, labels and units: docs/operating/metrics.md.
#pragma once

#include <string>
#include <vector>

#include "node/exposition.h"
#include "node/facts.h"

namespace mrc::node {

/// Devices and ports, all processes together; how many processes and QPs there are.
std::string node_metrics(const Snapshot& snapshot, TextForm form);
/// The same of each process for itself.
std::string process_metrics(const std::vector<ProcessFacts>& processes, TextForm form);
/// Each QP of these processes.
std::string qp_metrics(const std::vector<ProcessFacts>& processes, TextForm form);

}  // namespace mrc::node
