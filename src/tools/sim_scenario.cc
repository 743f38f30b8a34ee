#include "tools/sim_scenario.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <thread>

#include "scenario/csv.h"
#include "scenario/figures.h"
#include "scenario/files.h"
#include "scenario/prepare.h"
#include "scenario/report.h"
#include "sim/ranks.h"
#include "sim/trace.h"
#include "tools/interruption.h"
#include "tools/sim_record.h"

namespace mrc::tools {
namespace {

using scenario::Document;
using scenario::Outcome;
using scenario::Outputs;
using scenario::Prepared;
using scenario::Scenario;

/// Whether each file was written. One that cannot be keeps nobody from the others: a long run may be behind
/// them.
bool write_all(const Document& document, const Scenario& s, const Prepared& prepared, const Outcome& o) {
  bool whole = true;
  const auto put = [&](const std::string& path, const auto& make) {
    if (path.empty()) return;
    if (auto ok = scenario::write_file(path, make()); !ok) whole = refuse(ok.error().what, 1) == 0;
  };
  const Outputs& out = s.outputs;
  put(out.json, [&] { return scenario::to_json(s, o) + "\n"; });
  put(out.flows, [&] { return scenario::flows_csv(o, *prepared.load); });
  put(out.series, [&] { return scenario::series_csv(o); });
  put(out.links, [&] { return scenario::links_csv(o); });
  put(out.report,
      [&] { return scenario::report(s, prepared.topology, o, scenario::toml_text(document.root())); });
  return whole;
}

void print_text(const Scenario& s, const Outcome& o) {
  std::printf("%s\n%s", s.name.c_str(), sim::text(o.summary).c_str());
  if (o.jobs.size() > 1) {
    for (const scenario::JobFigures& j : o.jobs)
      std::printf("  job %-12s %.1f Gb/s (%.1f %% of line rate), ended at %.3f us, fairness %.4f\n",
                  j.name.c_str(), j.goodput_gbps, 100 * j.of_line_rate, sim::microseconds(j.last),
                  j.fairness);
  }
  for (const scenario::PhaseFigures& p : o.phases)
    std::printf("  phase %-12s %.1f Gb/s (%.1f %% of line rate)\n", p.name.c_str(), p.goodput_gbps,
                100 * p.of_line_rate);
}

/// Who asked for an interval hears when the run was too long for it.
void say_interval(const Scenario& s, const Outcome& o) {
  if (o.samples.empty() || s.outputs.interval == 0 || o.interval == s.outputs.interval) return;
  std::fprintf(stderr, "mrc sim: the time series has at most %zu rows: its interval became %g us\n",
               scenario::Series::kMostRows, sim::microseconds(o.interval));
}

int verdict(const Scenario& s, const Outcome& o, bool json) {
  const auto figures = scenario::Figures::from_json(scenario::to_json(s, o));
  int status = 0;
  for (const scenario::Checked& c : o.checks) {
    if (c.met && json) continue;
    std::fprintf(c.met ? stdout : stderr, "%s %s\n", c.met ? "met   " : "MISSED",
                 scenario::text(c, figures).c_str());
    if (!c.met) status = kMissed;
  }
  return o.unfinished.empty() ? status : refuse(o.unfinished, 1);
}

}  // namespace

int refuse(const std::string& sentence, int status) {
  if (sim::speaks_for_all()) std::fprintf(stderr, "mrc sim: %s\n", without_file(sentence).c_str());
  return status;
}

void replace_outputs(Outputs& of, const Outputs& by) {
  for (const auto field : {&Outputs::json, &Outputs::flows, &Outputs::series, &Outputs::links,
                           &Outputs::report, &Outputs::table}) {
    if (!(by.*field).empty()) of.*field = by.*field;
  }
}

Status can_write_all(const Outputs& o, const std::string& record) {
  std::set<std::string> seen;
  for (const std::string& path : {o.json, o.flows, o.series, o.links, o.report, o.table, record}) {
    if (path.empty()) continue;
    if (!seen.insert(path).second && !path.starts_with("/dev/"))
      return Error{EINVAL, path + ": two results would be written to it; give each its own file"};
    if (auto ok = scenario::can_write(path); !ok) return ok;
  }
  return Done{};
}

unsigned processes(unsigned asked) {
  return asked != 0 ? asked : std::max(1u, std::thread::hardware_concurrency());
}

Result<Document> open_scenario(const ScenarioOptions& options) {
  auto document = options.file.empty() ? document_of(options.given) : Document::read(options.file);
  if (!document) return document;
  for (const std::string& s : options.settings) {
    if (auto done = document->set(s); !done) return done.error();
  }
  return document;
}

int simulate_scenario(const ScenarioOptions& options) {
  const auto document = open_scenario(options);
  if (!document) return refuse(document.error().what, kBadScenario);
  if (document->has("sweep")) return simulate_sweep(options, *document);
  auto read = document->scenario();
  if (!read) return refuse(read.error().what, kBadScenario);
  Scenario& s = *read;
  replace_outputs(s.outputs, options.outputs);
  if (!s.outputs.table.empty())
    return refuse("a table compares the points of a sweep, and this scenario has no [sweep]", kBadScenario);
  if (auto ok = can_write_all(s.outputs, options.record); !ok) return refuse(ok.error().what, kBadScenario);
  auto prepared = scenario::prepare(s);
  if (!prepared) return refuse(prepared.error().what, kBadScenario);

  if (options.traced != UINT32_MAX && options.traced >= prepared->topology.hosts())
    return refuse("--trace " + std::to_string(options.traced) + ": the fabric has hosts 0 to " +
                      std::to_string(prepared->topology.hosts() - 1),
                  kBadScenario);
  const bool samples = !s.outputs.series.empty() || !s.outputs.report.empty();
  const auto ranks = sim::started_by_mpirun() ? sim::join_ranks() : std::unique_ptr<sim::Ranks>();
  if (!ranks) return refuse(ranks.error().what, 1);
  prepared->world.ranks = ranks->get();
  if (*ranks != nullptr && samples)
    return refuse(
        "a time series or report needs all nodes in one process; leave it out, or run without mpirun",
        kBadScenario);
  if (*ranks != nullptr && prepared->world.hosts.wire)
    return refuse("packets as bytes need all nodes in one process; leave --wire out, or run without mpirun",
                  kBadScenario);

  sim::TraceSink trace(stderr);
  prepared->world.hosts.traced = options.traced;
  prepared->world.hosts.sink = &trace;
  scenario::Wanted wanted{samples, !s.outputs.links.empty(), {}};
  const auto record = record_scenario(options, s, *prepared, wanted);
  if (!record) return refuse(record.error().what, kBadScenario);
  heed_interruption();
  SimProgress progress(options.progress, {prepared->bytes, s.world.end, s.wall_seconds});
  const Outcome o =
      scenario::run(s, *prepared, wanted, [&](const sim::Progress& p) { return progress.note(p); });
  progress.clear();
  if (!o.here) return 0;  // rank 0 speaks for all
  say_interval(s, o);
  if (options.json) {
    std::printf("%s\n", scenario::to_json(s, o).c_str());
  } else {
    print_text(s, o);
  }
  const bool written = write_all(*document, s, *prepared, o);
  if (auto ok = *record ? (*record)->close() : Status(Done{}); !ok) return refuse(ok.error().what, 1);
  if (interruption() != 0 && o.stopped_by_time)
    return refuse("interrupted: these are the results so far", interrupted_status());
  if (progress.out_of_time()) return refuse("stopped: the wall time of [limits] is over", 1);
  const int status = verdict(s, o, options.json);
  return written ? status : 1;
}

}  // namespace mrc::tools
