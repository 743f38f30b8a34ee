// A whole simulated fabric: hosts with their NICs, switches, links, a workload, faults; and the run.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "sim/crew.h"
#include "sim/elsewhere.h"
#include "sim/fabric_plan.h"
#include "sim/fault.h"
#include "sim/host_node.h"
#include "sim/host_plan.h"
#include "sim/switch_node.h"

namespace mrc::sim {

struct WorldSettings {
  QueueSettings queues;
  ForwardingSettings forwarding;
  HostSettings hosts;
  std::vector<Stroke> strokes;  // in order of time
  Ps end = kNeverPs;            // stop then, finished or not
  unsigned threads = 1;
  Ranks* ranks = nullptr;  // several processes, each with so many threads
};

/// Where a run stands, for whoever watches: `total` counts up to `now`, and changed since `since`.
struct Progress {
  Ps since = 0;
  Ps now = 0;
  Tally total;
};
/// Called between windows, with all threads at rest; false stops the run.
using Watch = std::function<bool(const Progress&)>;

class World {
 public:
  using Slot = Cargo;

  /// The topology and the workload outlive the world.
  World(const topo::Topology& topo, const WorldSettings& settings, Workload& workload);

  /// Until all messages are through, or the end, or `watch` has seen enough.
  void run(Watch watch = {});

  /// More faults, for whoever watches: they strike in the second window from now, whatever their `when`.
  /// REQUIRES: called from the watch, all nodes in this process.
  void strike_soon(std::vector<Stroke> strokes);

  const topo::Topology& topo() const { return topo_; }
  const HostPlan& plan() const { return *plan_; }
  const LinkPlan& links() const { return links_; }
  ProgramHost& host(Host h) { return *hosts_[h]; }
  SwitchNode& switch_node(std::uint32_t number) { return *switches_[number]; }
  /// The egress port of a direction.
  const fabric::Link& link(topo::Hop hop);
  /// Of all processes, as of the last window.
  Tally total() const;
  /// Collective, after run() on several processes: rank 0 learns what the others' nodes did, so that flows(),
  /// link() and qp_counts() speak of all. True there, and where there is only one process.
  bool gather();
  std::vector<QpCount> qp_counts(Host host);
  Ps now() const { return now_; }
  bool stopped_early() const { return stopped_early_; }
  /// When that was; 0: it was not.
  Ps stopped_at() const { return stopped_early_ ? std::min(now_, settings_.end) : 0; }
  std::size_t slots() const { return crew_->slots().capacity(); }
  /// All messages, by source and in the order of their requests.
  std::vector<Flow> flows();

  // --- for Crew ---
  Ps run(Lane& lane, std::uint32_t node, Ps begin, Ps end, std::span<const Transit> arrivals);
  bool proceed(Ps begin);
  /// Stroke number `stroke` hits a host's port, or the host at the far end learns of it.
  void strike(ProgramHost& host, Host self, std::uint32_t stroke, Ps now);

 private:
  void settle_transport();
  void make_nodes();
  Tally own_total() const;
  const HostLog& log_of(Host host) const;
  std::unique_ptr<ProgramHost> make_host(Host host);
  Layout layout() const;
  void schedule_strokes(std::uint32_t first);
  void add_soon(Ps begin);
  void tell(std::uint32_t node, Ps when, std::uint32_t stroke);
  void apply(fabric::Link& link, const Stroke& s);

  const topo::Topology& topo_;
  WorldSettings settings_;
  LinkPlan links_;
  std::unique_ptr<HostPlan> plan_;
  std::vector<std::unique_ptr<ProgramHost>> hosts_;
  std::vector<std::unique_ptr<SwitchNode>> switches_;
  std::vector<Tally> tallies_;  // by shard
  std::unique_ptr<Crew<World>> crew_;
  std::unique_ptr<Elsewhere> elsewhere_;  // after gather()
  Tally total_;                           // of all processes
  Watch watch_;
  std::vector<Stroke> soon_;
  Ps now_ = 0;          // the present window
  bool began_ = false;  // there was one
  bool stopped_early_ = false;
};

}  // namespace mrc::sim
