// A sweep: every point of a scenario's grid, in processes of their own, compared in one report.
#include <algorithm>
#include <cstdio>

#include "scenario/compare.h"
#include "scenario/files.h"
#include "scenario/prepare.h"
#include "sim/ranks.h"
#include "tools/interruption.h"
#include "tools/process_pool.h"
#include "tools/sim_scenario.h"

namespace mrc::tools {
namespace {

using scenario::Document;
using scenario::Point;
using scenario::Scenario;
using scenario::Setting;

/// The scenario of one point. Documents can't be copied, so each point reads the file again.
Result<Scenario> scenario_of(const ScenarioOptions& options, const std::vector<Setting>& settings) {
  auto document = open_scenario(options);
  if (!document) return document.error();
  for (const Setting& s : settings) {
    if (auto done = document->set(s, s.place + ": sweep of " + s.path + " = " + s.value); !done)
      return done.error();
  }
  return document->scenario();
}

/// All that can be wrong is found before the first point runs.
Status check_all(const ScenarioOptions& options, const std::vector<std::vector<Setting>>& grid) {
  for (const auto& settings : grid) {
    const auto s = scenario_of(options, settings);
    if (!s) return s.error();
    if (const auto prepared = scenario::prepare(*s); !prepared) return prepared.error();
  }
  return Done{};
}

std::string run_point(const ScenarioOptions& options, const std::vector<Setting>& settings) {
  sim::cost_so_far();
  const auto s = scenario_of(options, settings);
  auto prepared = scenario::prepare(*s);
  SimProgress limit(ProgressMode::off, {0, sim::kNeverPs, s->wall_seconds});
  const auto outcome =
      scenario::run(*s, *prepared, {}, [&](const sim::Progress& p) { return limit.note(p); });
  return scenario::to_json(*s, outcome);
}

Status write_all(const Scenario& s, const std::vector<Point>& points, const Document& document) {
  const scenario::Outputs& out = s.outputs;
  const auto put = [](const std::string& path, const auto& make) -> Status {
    return path.empty() ? Status(Done{}) : scenario::write_file(path, make());
  };
  if (auto ok = put(out.json, [&] { return sweep_json(s, points) + "\n"; }); !ok) return ok;
  if (auto ok = put(out.table, [&] { return sweep_csv(s, points); }); !ok) return ok;
  return put(out.report, [&] { return sweep_report(s, points, scenario::toml_text(document.root())); });
}

bool all_passed(const std::vector<Point>& points) {
  return std::all_of(points.begin(), points.end(), [](const Point& p) {
    return p.error.empty() && scenario::Figures::from_json(p.json).find("passed") == 1.0;
  });
}

}  // namespace

int simulate_sweep(const ScenarioOptions& options, const Document& document) {
  const auto grid = document.grid();
  if (!grid) return refuse(grid.error().what, kBadScenario);
  auto base = document.scenario();
  if (!base) return refuse(base.error().what, kBadScenario);
  replace_outputs(base->outputs, options.outputs);
  const scenario::Outputs& out = base->outputs;
  if (!out.flows.empty() || !out.series.empty() || !out.links.empty())
    return refuse("flows, series and links are files of one run; a sweep writes json, table and report",
                  kBadScenario);
  if (!options.record.empty() || options.traced != UINT32_MAX)
    return refuse("--record and --trace follow one run; a sweep has many", kBadScenario);
  if (sim::started_by_mpirun())
    return refuse("a sweep runs its points in processes of its own; start it without mpirun", kBadScenario);
  if (auto ok = can_write_all(out, options.record); !ok) return refuse(ok.error().what, kBadScenario);
  if (auto ok = check_all(options, *grid); !ok) return refuse(ok.error().what, kBadScenario);

  heed_interruption();
  std::size_t ended = 0;
  const auto pieces = run_in_processes(
      grid->size(), processes(options.at_once), [&](std::size_t i) { return run_point(options, (*grid)[i]); },
      [&](std::size_t) {
        ++ended;
        if (options.progress != ProgressMode::off)
          std::fprintf(stderr, "%zu of %zu points\n", ended, grid->size());
      });
  std::vector<Point> points;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    points.push_back({(*grid)[i], pieces[i].text, pieces[i].error});
  if (auto ok = write_all(*base, points, document); !ok) return refuse(ok.error().what, 1);
  std::printf("%s\n", (options.json ? sweep_json(*base, points) : sweep_text(*base, points)).c_str());
  if (ended < grid->size())
    return refuse("interrupted: " + std::to_string(ended) + " of " + std::to_string(grid->size()) +
                      " points ended, and these are their results",
                  interrupted_status());
  return all_passed(points) ? 0 : kMissed;
}

}  // namespace mrc::tools
