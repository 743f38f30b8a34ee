// htsim's topology (`.topo`), as it is: a header, then one block per tier.
//
//   Nodes N / Tiers 2|3 / Podsize H
//   Tier T, then: Downlink_speed_Gbps, Radix_Down, Radix_Up, Downlink_Latency_ns, Switch_Latency_ns,
//                 Oversubscribed, Bundle, Queue_Up, Queue_Down
// Names in any case. A tier's downlinks are what the tier below sees as uplinks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sim/fabric_plan.h"
#include "topo/spec.h"

namespace mrc::sim {

struct TopoFile {
  topo::Spec spec;   // one plane
  PortRooms queues;  // Queue_Up and Queue_Down of its tiers
};

/// `file` names the text in errors, which say the line, what is wrong and what would do.
Result<TopoFile> parse_topo(std::string_view text, std::string_view file);
Result<TopoFile> read_topo(const std::string& path);

}  // namespace mrc::sim
