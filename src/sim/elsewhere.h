// What rank 0 learns at the end about the nodes of other processes: their logs and their links' figures.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "fabric/link.h"
#include "sim/program_host.h"
#include "sim/ranks.h"
#include "sim/switch_node.h"

namespace mrc::sim {

class Elsewhere {
 public:
  /// Collective. Nodes that are null here live in another process.
  Elsewhere(const topo::Topology& topo, const LinkPlan& plan, Ranks& ranks,
            const std::vector<std::unique_ptr<ProgramHost>>& hosts,
            const std::vector<std::unique_ptr<SwitchNode>>& switches, Workload& workload);

  const HostLog& log(Host host) const { return logs_.at(host); }
  const std::vector<QpCount>& qp_counts(Host host) const { return qps_.at(host); }
  const fabric::Link& link(topo::Hop hop) const { return links_.at(hop.index()); }

 private:
  void take(const Ranks::Bytes& bytes, const topo::Topology& topo, const LinkPlan& plan, Workload& workload);

  std::unordered_map<Host, HostLog> logs_;
  std::unordered_map<Host, std::vector<QpCount>> qps_;
  std::unordered_map<std::uint32_t, fabric::Link> links_;  // by hop
};

}  // namespace mrc::sim
