#include "tools/sim_paper.h"

#include <algorithm>
#include <cstdio>

#include "scenario/files.h"
#include "scenario/paper.h"
#include "scenario/prepare.h"
#include "sim/ranks.h"
#include "tools/interruption.h"
#include "tools/process_pool.h"
#include "tools/sim_scenario.h"

namespace mrc::tools {
namespace {

using scenario::Document;
using scenario::PaperFile;
using scenario::PaperRow;
using scenario::Point;
using scenario::Scenario;
using scenario::Setting;

/// One run: a file, its size, a point of its grid, MRC or the baseline.
struct Task {
  const PaperFile* file = nullptr;
  std::vector<Setting> settings;
  bool baseline = false;
  std::size_t row = 0;
};

Result<Document> document_of(const PaperFile& file, bool quick, bool baseline) {
  auto document = Document::parse(file.text, file.name);
  if (!document) return document;
  if (quick) {
    if (auto done = document->apply("quick"); !done) return done.error();
  }
  if (baseline) {
    if (auto done = document->apply("baseline"); !done) return done.error();
  }
  return document;
}

Result<Scenario> scenario_of(const Task& task, bool quick) {
  auto document = document_of(*task.file, quick, task.baseline);
  if (!document) return document.error();
  for (const Setting& s : task.settings) {
    if (auto done = document->set(s, task.file->name); !done) return done.error();
  }
  return document->scenario();
}

std::string run_task(const Task& task, bool quick) {
  sim::cost_so_far();
  const auto s = scenario_of(task, quick);
  auto prepared = scenario::prepare(*s);
  return scenario::to_json(*s, scenario::run(*s, *prepared, {}));
}

bool wanted(const PaperOptions& options, const Scenario& s) {
  return options.only.empty() ||
         std::find(options.only.begin(), options.only.end(), s.published->id) != options.only.end();
}

Status plan_file(const PaperFile& file, const PaperOptions& options, std::vector<PaperRow>& rows,
                 std::vector<Task>& tasks) {
  auto document = document_of(file, options.quick, false);
  if (!document) return document.error();
  auto s = document->scenario();
  if (!s) return s.error();
  if (!s->published) return Error{EINVAL, file.name + ": has no [published]"};
  if (!wanted(options, *s)) return Done{};
  const auto grid = document->grid();
  if (!grid) return grid.error();
  for (const auto& settings : *grid) {
    PaperRow row;
    row.published = *s->published;
    row.file = file.name;
    row.mrc.settings = row.baseline.settings = settings;
    if (grid->size() > 1) row.variant = row.mrc.label();
    row.has_baseline = document->has("baseline") && !options.no_baseline;
    tasks.push_back({&file, settings, false, rows.size()});
    if (row.has_baseline) tasks.push_back({&file, settings, true, rows.size()});
    rows.push_back(std::move(row));
  }
  return Done{};
}

Status check_all(const std::vector<Task>& tasks, bool quick, std::vector<PaperRow>& rows) {
  for (const Task& task : tasks) {
    const auto s = scenario_of(task, quick);
    if (!s) return s.error();
    const auto prepared = scenario::prepare(*s);
    if (!prepared) return prepared.error();
    rows[task.row].hosts = prepared->topology.hosts();
  }
  return Done{};
}

}  // namespace

int simulate_paper(const PaperOptions& options) {
  if (sim::started_by_mpirun())
    return refuse("the published results run in processes of their own; start them without mpirun",
                  kBadScenario);
  std::vector<PaperRow> rows;
  std::vector<Task> tasks;
  for (const PaperFile& file : scenario::paper_files()) {
    if (auto done = plan_file(file, options, rows, tasks); !done)
      return refuse(done.error().what, kBadScenario);
  }
  if (rows.empty()) return refuse("none of the results has that id; they are R1 to R15", kBadScenario);
  if (auto done = check_all(tasks, options.quick, rows); !done)
    return refuse(done.error().what, kBadScenario);
  if (!options.report.empty()) {
    if (auto ok = scenario::can_write(options.report); !ok) return refuse(ok.error().what, kBadScenario);
  }
  heed_interruption();
  std::size_t ended = 0;
  const auto pieces = run_in_processes(
      tasks.size(), processes(options.at_once),
      [&](std::size_t i) { return run_task(tasks[i], options.quick); },
      [&](std::size_t i) {
        ++ended;
        if (options.progress)
          std::fprintf(stderr, "%zu of %zu runs: %s\n", ended, tasks.size(), tasks[i].file->name.c_str());
      });
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    Point& point = tasks[i].baseline ? rows[tasks[i].row].baseline : rows[tasks[i].row].mrc;
    point.json = pieces[i].text;
    point.error = pieces[i].error;
  }
  if (!options.report.empty()) {
    if (auto ok = scenario::write_file(options.report, paper_report(rows, options.quick)); !ok)
      return refuse(ok.error().what, 1);
  }
  std::printf("%s\n", (options.json ? paper_json(rows) : paper_text(rows)).c_str());
  if (ended < tasks.size())
    return refuse(
        "interrupted: " + std::to_string(ended) + " of " + std::to_string(tasks.size()) + " runs ended",
        interrupted_status());
  return std::all_of(rows.begin(), rows.end(), scenario::row_passed) ? 0 : kMissed;
}

}  // namespace mrc::tools
