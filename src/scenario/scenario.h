// A scenario: everything that a person says about one simulated run, read from TOML and checked.
// docs/simulator.md has every key with its meaning and unit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/fault.h"
#include "sim/pattern.h"
#include "sim/stream_workload.h"
#include "sim/training.h"
#include "sim/world.h"
#include "topo/spec.h"

namespace mrc::scenario {

enum class JobKind : std::uint8_t { pattern, training, streams, cm, goal };
enum class Order : std::uint8_t { linear, random };

/// Ranks whose compute steps take longer.
struct Stragglers {
  std::vector<std::uint32_t> ranks;  // these, or
  std::uint32_t count = 0;           // so many, chosen by the scenario's seed
  double slowdown = 1;
};

struct JobSpec {
  std::string place;  // "file:line", for complaints
  std::string name;
  JobKind kind = JobKind::pattern;
  sim::Ps start = 0;
  sim::Pattern pattern;
  sim::Training training;
  std::vector<sim::Stream> streams;
  std::string file;  // cm, goal
  // Where ranks run: `hosts`, or ranks on hosts first, first + stride, ...
  std::vector<std::uint32_t> hosts;
  std::uint32_t ranks = 0;  // 0: as many as there are hosts
  std::uint32_t first_host = 0;
  std::uint32_t stride = 1;
  Order order = Order::linear;
  Stragglers stragglers;
};

enum class AnyLink : std::uint8_t { none, host, t0_t1, t1_t2 };

/// One fault at each of `targets`, or at links drawn at random; each `spacing` after the one before.
struct FaultSpec {
  std::string place;
  sim::Fault fault;
  std::vector<std::string> targets;
  AnyLink any = AnyLink::none;
  std::uint32_t count = 0;  // of random links, or
  double part = 0;          // so much of them
  std::uint32_t width = 1;  // neighbours that share a transceiver and fail together
  sim::Ps spacing = 0;
};

/// A stretch of time whose goodput is a figure of its own.
struct Phase {
  std::string name;
  sim::Ps from = 0;
  sim::Ps to = sim::kNeverPs;
};

/// A figure of the result, by its dotted name, and the band in which it must lie.
struct Expectation {
  std::string place;
  std::string figure;
  std::optional<double> min, max;
};

struct Outputs {
  std::string json, flows, series, links, report;  // files; empty: none
  std::string table;                               // CSV of a sweep
  std::vector<std::string> figures;                // that sweeps compare
  sim::Ps interval = 0;                            // of the time series; 0: chosen by the run's length
};

/// A result that someone published, and the figure of ours that stands beside it.
struct Published {
  std::string id;       // R1
  std::string setting;  // in words
  std::string mrc, roce;
  std::string no_baseline;  // why RoCEv2 is not run beside it, in a phrase
  std::string figure;       // the figure that is compared
  std::string unit;         // of it, as reports print it
  double scale = 1;         // from the figure to that unit
};

struct Scenario {
  std::string file;
  std::string name;
  std::string description;
  topo::Spec topology;
  std::string topology_place, rates_place;  // "file:line", for complaints
  std::string topology_file;                // that the fabric came from, if any
  sim::WorldSettings world;
  std::vector<JobSpec> jobs;
  std::vector<FaultSpec> faults;
  sim::FaultRates fault_rates;
  std::vector<Phase> phases;
  std::vector<Expectation> expectations;
  Outputs outputs;
  double wall_seconds = 0;  // stop after so long; 0: never
  std::optional<Published> published;
};

}  // namespace mrc::scenario
