// Mappers on the hosts of a lab, one process each as on real nodes, and what they report.
#pragma once

#include <sys/types.h>

#include <memory>
#include <vector>

#include "lab/lab.h"
#include "map/mapper.h"

namespace mrc::tools {

/// The head of a node's report; its observations follow in the same message.
struct NodeReport {
  map::HostId host;
  Duration cpu{0};  // that the process has used, the kernel's part included
  map::AgentCounters counters;
  std::uint64_t lost = 0;
};

NodeReport node_report(const map::Mapper& mapper);
/// Waits for the mapper's next time, a probe to pass on, or `end`, and gives it its turn. True when its
/// observations are new. `channel`, if any: false once the other end has closed, said by `closed`.
bool run_mapper_once(map::Mapper& mapper, Time end, int channel = -1, bool* closed = nullptr);

class MapNodes {
 public:
  /// Starts a mapper on each host of the lab and returns when all of them probe. They end with this object.
  static Result<MapNodes> start(lab::Lab& lab, const topo::Topology& topo, const map::Settings& settings);
  MapNodes(MapNodes&&) = default;
  ~MapNodes();

  /// Takes reports into the survey until `deadline`, or until something arrived.
  void wait(Time deadline, map::Survey& survey);
  /// The newest of each host.
  const std::vector<NodeReport>& reports() const { return reports_; }
  /// What stopped a node, if anything did.
  const std::string& problem() const { return problem_; }

 private:
  MapNodes() = default;
  Status add(lab::Lab& lab, const topo::Topology& topo, map::HostId host, const map::Settings& settings);
  bool take(std::size_t node, map::Survey& survey);

  std::vector<port::Fd> channels_;
  std::vector<pid_t> children_;
  std::vector<NodeReport> reports_;
  std::string problem_;
};

}  // namespace mrc::tools
