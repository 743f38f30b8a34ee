// `mrc sim SCENARIO.toml`: one run of a scenario, its files and its verdict.
#pragma once

#include <string>
#include <vector>

#include "scenario/document.h"
#include "scenario/outcome.h"
#include "tools/sim_options.h"
#include "tools/sim_progress.h"

namespace mrc::tools {

// Exit statuses beyond 0 and 1.
inline constexpr int kBadScenario = 2;  // refused before anything ran or was written
inline constexpr int kMissed = 3;       // it ran, and an expectation was not met

struct ScenarioOptions {
  std::string file;                   // empty: what the options say
  std::vector<Given> given;           // by options, without a file
  std::vector<std::string> settings;  // --set PATH=VALUE
  scenario::Outputs outputs;          // those given here replace the scenario's
  bool json = false;
  sim::Host traced = UINT32_MAX;  // its engine tells what it does, on stderr
  ProgressMode progress = ProgressMode::off;
  std::string record;                 // frames for `mrc web --trace`
  std::string record_every = "10us";  // of simulated time
  unsigned at_once = 0;               // processes of a sweep; 0: as many as there are processors
};

/// The document with all that the command line says put into it.
Result<scenario::Document> open_scenario(const ScenarioOptions& options);
int simulate_scenario(const ScenarioOptions& options);

/// A document of [sweep]: all its points, in processes.
int simulate_sweep(const ScenarioOptions& options, const scenario::Document& document);

// Shared by the ways to run.
int refuse(const std::string& sentence, int status);
void replace_outputs(scenario::Outputs& of, const scenario::Outputs& by);
Status can_write_all(const scenario::Outputs& outputs, const std::string& record);
unsigned processes(unsigned asked);

}  // namespace mrc::tools
