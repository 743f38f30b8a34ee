// A scenario file: fabric, transport, jobs, faults and expectations of one run, or of a grid of runs, in one
// TOML text.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/fault.h"
#include "sim/pattern.h"
#include "sim/training.h"
#include "sim/world.h"
#include "topo/spec.h"

namespace mrc::sim {

enum class PlacementKind : std::uint8_t { linear, random, strided };

struct Stragglers {
  std::uint32_t count = 0;  // ranks, chosen at random
  double slowdown = 1;      // of their compute steps
};

struct JobSpec {
  std::string name;
  bool is_training = false;
  Pattern pattern;  // ranks 0: all hosts that `first` leaves
  Training training;
  PlacementKind placement = PlacementKind::linear;
  std::uint32_t first = 0;   // host of rank 0, where the placement is linear or strided
  std::uint32_t stride = 1;  // strided: hosts between neighbours
  Ps start = 0;
  Stragglers stragglers;
  std::uint64_t seed = 1;
};

/// A figure of the summary and where it should lie.
struct Expectation {
  std::string figure;  // "slowdown.max", as in the JSON summary
  double least = 0;
  double most = 0;
};

struct Scenario {
  std::string name;
  topo::Spec topology;
  WorldSettings world;
  std::string cm, goal;  // files, instead of jobs
  std::vector<JobSpec> jobs;
  std::vector<Fault> faults;
  FaultRates rates;
  double dead_links = 0;             // part of the T0-T1 links that are dead from the start, chosen at random
  std::uint32_t flapping_links = 0;  // T0-T1 links that flap all the time
  Ps flap_down = 10'000'000;         // down for this long
  Ps flap_every = 100'000'000;       // once in this
  Ps series = 0;                     // interval of the time series; 0: none
  std::string published;             // what others report for this setting, for the comparison
  std::vector<Expectation> expect;
};

/// `file` names the text in complaints and is where relative names start.
Result<Scenario> parse_scenario(std::string_view toml, const std::string& file);

/// One run of a sweep: what was varied, and the scenario that results.
struct Variant {
  std::string label;                                        // "transport.evs=64 fabric.trim=false"
  std::vector<std::pair<std::string, std::string>> values;  // setting, value
  Scenario scenario;
};
/// The scenario, or one for each point of its [sweep] grid.
Result<std::vector<Variant>> parse_variants(std::string_view toml, const std::string& file);
Result<std::vector<Variant>> read_variants(const std::string& path);

/// The workload that a scenario describes, on a fabric that exists.
Result<std::unique_ptr<Workload>> make_workload(const Scenario& scenario, const topo::Topology& topo);
/// All strokes: scheduled, dead from the start, flapping, random.
Result<std::vector<Stroke>> make_strokes(const Scenario& scenario, const topo::Topology& topo);

}  // namespace mrc::sim
