// From a Scenario to what can run: the fabric, the workloads on their hosts, the strokes of all faults.
// What does not fit together is refused here, with the scenario's line.
#pragma once

#include <memory>
#include <vector>

#include "scenario/scenario.h"
#include "sim/ensemble.h"
#include "topo/topo.h"

namespace mrc::scenario {

/// Something that happened to the fabric, for plots.
struct Mark {
  sim::Ps when = 0;
  std::string label;
};

struct Prepared {
  topo::Topology topology;
  std::unique_ptr<sim::Ensemble> load;
  sim::WorldSettings world;
  std::uint64_t bytes = 0;  // that all jobs together move; 0: one of them has no end in sight
  std::vector<Mark> marks;  // at most some dozens
};

Result<Prepared> prepare(const Scenario& scenario);

/// The parts of prepare().
struct MadeJob {
  std::unique_ptr<sim::Workload> load;
  std::uint64_t bytes = 0;
  std::vector<sim::Fault> faults;  // that its file asks for
};
Result<MadeJob> make_job(const JobSpec& job, const topo::Topology& topology, std::uint64_t seed);
Result<std::vector<sim::Stroke>> make_strokes(const Scenario& scenario, const topo::Topology& topology,
                                              const std::vector<sim::Fault>& of_jobs,
                                              std::vector<Mark>& marks);

}  // namespace mrc::scenario
