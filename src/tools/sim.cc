// `mrc sim`: a fabric of any size, its NICs and its traffic, in simulated time.
#include <CLI/CLI.hpp>
#include <memory>
#include <set>

#include "sim/summary.h"
#include "tools/commands.h"
#include "tools/sim_options.h"
#include "tools/sim_paper.h"
#include "tools/sim_scenario.h"

namespace mrc::tools {
namespace {

struct SimOptions {
  ScenarioOptions scenario;
  bool quiet = false, progress = false;
};

/// With a scenario, what it says is changed in one way only.
std::string meaningless_option(const CLI::App& app) {
  const std::set<std::string> meant = {"scenario",  "--set",         "--json",   "--json-file", "--flows",
                                       "--series",  "--links",       "--report", "--progress",  "--quiet",
                                       "--threads", "--seed",        "--trace",  "--table",     "--processes",
                                       "--record",  "--record-every"};
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0 && !meant.contains(option->get_name())) return option->get_name();
  }
  return "";
}

void add_scenario_options(CLI::App& app, SimOptions& o) {
  const char* group = "Scenario";
  app.add_option("scenario", o.scenario.file, "a scenario, as docs/simulator.md describes it")->group(group);
  app.add_option("--set", o.scenario.settings,
                 "change a value of the scenario: --set job.0.bytes=1000000; one each, as often as needed")
      ->group(group)
      ->type_name("PATH=VALUE")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  scenario::Outputs& out = o.scenario.outputs;
  app.add_option("--json-file", out.json, "the summary as JSON")->group(group);
  app.add_option("--flows", out.flows, "CSV, a row per message")->group(group);
  app.add_option("--series", out.series, "CSV, a row per moment")->group(group);
  app.add_option("--links", out.links, "CSV, a row per direction of a link")->group(group);
  app.add_option("--report", out.report, "one HTML page with plots")->group(group);
  app.add_option("--record", o.scenario.record, "frames for `mrc web --trace` and `mrc top --trace`")
      ->group(group);
  app.add_option("--record-every", o.scenario.record_every, "simulated time between two frames")
      ->group(group)
      ->capture_default_str();
  app.add_option("--table", out.table, "CSV, a row per point of a sweep")->group(group);
  app.add_option("--processes", o.scenario.at_once, "points of a sweep at a time; 0: one per processor")
      ->group(group);
  app.add_flag("--progress", o.progress, "one JSON object per second on stderr while it runs")->group(group);
  app.add_flag("--quiet", o.quiet, "no progress")->group(group)->excludes("--progress");
}

int run(const CLI::App& app, SimOptions& o) {
  if (o.scenario.file.empty()) {
    o.scenario.given = given_options(app);
  } else {
    if (const std::string name = meaningless_option(app); !name.empty())
      return refuse(name + " does not go with a scenario; change it with --set PATH=VALUE", kBadScenario);
    for (const char* shared : {"--threads", "--seed"}) {
      if (app.count(shared) > 0)
        o.scenario.settings.push_back(std::string(shared + 2) + "=" +
                                      app.get_option(shared)->results().back());
    }
  }
  o.scenario.progress = o.quiet ? ProgressMode::off : o.progress ? ProgressMode::lines : default_progress();
  return simulate_scenario(o.scenario);
}

/// Takes the place of `mrc sim` itself when it is named.
std::function<int()> add_paper(CLI::App& app) {
  auto o = std::make_shared<PaperOptions>();
  CLI::App* paper = app.add_subcommand("paper", "the published results R1 to R15, run here and compared");
  paper->add_flag("--quick", o->quick, "small sizes: seconds instead of minutes");
  paper->add_option("--only", o->only, "some of them: R9 R14");
  paper->add_option("--report", o->report, "one HTML page");
  paper->add_option("--processes", o->at_once, "runs at a time; 0: one per processor");
  paper->add_flag("--no-baseline", o->no_baseline, "without RoCEv2");
  paper->add_flag("--progress", o->progress, "say on stderr which runs have ended");
  paper->add_flag("--json", o->json, "a JSON array");
  paper->footer("Example: mrc sim paper --quick --report paper.html");
  return [o, paper] { return paper->parsed() ? simulate_paper(*o) : -1; };
}

}  // namespace

Run sim(CLI::App& app) {
  sim::cost_so_far();  // the clock starts here
  auto o = std::make_shared<SimOptions>();
  add_scenario_options(app, *o);
  add_sim_options(app);
  app.add_option("--trace", o->scenario.traced, "a host whose engine tells what it does, on stderr");
  app.add_flag("--json", o->scenario.json, "one JSON object");
  app.footer(
      "Example: mrc sim share/scenarios/permutation.toml --set job.0.bytes=4MB --flows flows.csv\n"
      "Example: mrc sim --pattern ring_allreduce --planes 4 --t0 4 --t1 4 --hosts-per-t0 8 --bytes 1000000\n"
      "Exit status: 0 done, 1 not finished, 2 refused, 3 an expectation was missed");
  return [o, &app, paper = add_paper(app)] {
    if (const int status = paper(); status >= 0) return status;
    return run(app, *o);
  };
}

}  // namespace mrc::tools
