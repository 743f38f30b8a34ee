// A scenario's run, and everything that is known afterwards.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "scenario/prepare.h"
#include "scenario/scenario.h"
#include "scenario/series.h"
#include "sim/summary.h"

namespace mrc::scenario {

/// One job's own figures.
struct JobFigures {
  std::string name;
  std::uint64_t flows = 0, unfinished = 0, bytes = 0;
  sim::Ps first = sim::kNeverPs, last = 0;  // request of the first, arrival of the last message
  sim::Distribution completion_us;
  double goodput_gbps = 0;  // over that time
  double of_line_rate = 0;  // of what its senders' or its receivers' NICs carry, whichever is less
  double fairness = 1;      // Jain's index of the rates of its pairs of hosts
};

struct PhaseFigures {
  std::string name;
  double goodput_gbps = 0;
  double of_line_rate = 0;
};

struct LinkFigures {
  std::string name;
  double use = 0;
  fabric::LinkCounters counters;
};

struct Checked {
  Expectation wanted;
  double found = 0;
  bool known = false;  // the result has such a figure
  bool met = false;
};

struct Outcome {
  bool here = true;  // false on the ranks whose results went to rank 0: the rest is empty
  sim::Summary summary;
  std::vector<sim::Flow> flows;
  std::vector<JobFigures> jobs;
  std::vector<PhaseFigures> phases;
  std::vector<LinkFigures> busiest;
  std::vector<LinkFigures> links;  // all directions, when they are wanted
  std::vector<Sample> samples;     // empty when nobody wants them
  sim::Ps interval = 0;            // of theirs
  std::vector<Mark> marks;
  double of_line_rate = 0;  // summary.goodput_gbps over what the NICs carry
  sim::Ps silence = 0;      // the longest time in which nothing arrived, between the first byte and the last
  sim::Ps ended = 0;        // simulated time of the run
  bool stopped_by_time = false;
  std::string unfinished;  // why not all was done, and where the work stood: a sentence; empty: it was
  std::vector<Checked> checks;

  bool passed() const;
};

/// What a run is asked to keep besides the summary.
struct Wanted {
  bool samples = false;
  bool all_links = false;
  /// Called between windows, with all threads at rest.
  std::function<void(sim::World&, const sim::Progress&)> look;
};

/// What whoever watches says between windows.
enum class Stop : std::uint8_t { no, interrupted, wall_time };
using OnProgress = std::function<Stop(const sim::Progress&)>;

/// Runs it. `prepared` belongs to `scenario`.
Outcome run(const Scenario& scenario, Prepared& prepared, const Wanted& wanted,
            const OnProgress& on_progress = {});

/// All figures and the checks.
std::string to_json(const Scenario& scenario, const Outcome& outcome);

}  // namespace mrc::scenario
