#include "scenario/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/counted.h"
#include "scenario/html.h"
#include "scenario/plot.h"

namespace mrc::scenario {
namespace {

constexpr std::size_t kHeatColumns = 160;
constexpr std::size_t kCdfPoints = 400;

std::string percent(double part) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.1f %%", 100 * part);
  return digits;
}

/// Time on the axis: us, or ms when the run is long.
struct TimeAxis {
  double scale = 1e-6;
  const char* label = "us";
  explicit TimeAxis(sim::Ps end) {
    if (end > 20'000'000'000) scale = 1e-9, label = "ms";
  }
  double at(sim::Ps t) const { return static_cast<double>(t) * scale; }
};

std::vector<PlotMark> marks_of(const Outcome& o, const TimeAxis& axis) {
  std::vector<PlotMark> out;
  for (const Mark& m : o.marks) out.push_back({axis.at(m.when), m.label});
  return out;
}

double gbps(std::uint64_t bytes, sim::Ps time) {
  return time > 0 ? static_cast<double>(bytes) * 8e-9 / sim::seconds(time) : 0;
}

std::string rates(const Outcome& o, const TimeAxis& axis) {
  LinePlot goodput{"Goodput of all hosts", axis.label, "Gb/s", {{"goodput", {}}}, marks_of(o, axis)};
  LinePlot planes{"Rate on the wires to the hosts, by plane", axis.label, "Gb/s", {}, marks_of(o, axis)};
  const std::size_t count = o.samples[0].plane_bytes.size();
  for (std::size_t p = 0; p < count; ++p) planes.lines.push_back({"p" + std::to_string(p), {}});
  for (std::size_t i = 1; i < o.samples.size(); ++i) {
    const Sample &s = o.samples[i], &before = o.samples[i - 1];
    const sim::Ps time = s.when - before.when;
    if (time <= 0) continue;
    goodput.lines[0].points.emplace_back(axis.at(s.when), gbps(s.delivered - before.delivered, time));
    for (std::size_t p = 0; p < count; ++p)
      planes.lines[p].points.emplace_back(axis.at(s.when),
                                          gbps(s.plane_bytes[p] - before.plane_bytes[p], time));
  }
  return svg(goodput) + svg(planes);
}

std::string troubles(const Outcome& o, const TimeAxis& axis) {
  LinePlot plot{"Trims, losses and repairs, added up",
                axis.label,
                "packets",
                {{"trims", {}}, {"lost", {}}, {"repairs", {}}},
                marks_of(o, axis)};
  for (const Sample& s : o.samples) {
    plot.lines[0].points.emplace_back(axis.at(s.when), static_cast<double>(s.trims));
    plot.lines[1].points.emplace_back(axis.at(s.when), static_cast<double>(s.lost));
    plot.lines[2].points.emplace_back(axis.at(s.when), static_cast<double>(s.repairs));
  }
  return svg(plot);
}

/// Columns of at most kHeatColumns; a column has the largest of its samples.
struct Columns {
  std::vector<double> times;
  std::vector<std::vector<double>> values;

  Columns(const Outcome& o, const TimeAxis& axis, std::size_t rows, const auto& value) : values(rows) {
    const std::size_t n = o.samples.size() - 1;
    const std::size_t each = (n + kHeatColumns - 1) / kHeatColumns;
    for (std::size_t from = 1; from <= n; from += each) {
      const std::size_t to = std::min(from + each, n + 1);
      times.push_back(axis.at(o.samples[to - 1].when));
      for (std::size_t r = 0; r < rows; ++r) {
        double most = 0;
        for (std::size_t i = from; i < to; ++i)
          most = std::max(most, value(r, o.samples[i - 1], o.samples[i]));
        values[r].push_back(most);
      }
    }
  }
};

std::string queue_map(const Outcome& o, const TimeAxis& axis) {
  const std::size_t rows = o.samples[0].depth.size();
  Columns columns(o, axis, rows, [](std::size_t r, const Sample&, const Sample& s) {
    return static_cast<double>(s.depth[r]);
  });
  HeatMap map{"Largest data queue, by plane and kind of port",
              axis.label,
              "bytes",
              {},
              columns.times,
              {},
              marks_of(o, axis)};
  for (std::size_t r = 0; r < rows; ++r) {
    const bool ever =
        std::any_of(o.samples.begin(), o.samples.end(), [&](const Sample& s) { return s.depth[r] > 0; });
    if (!ever) continue;
    map.rows.push_back("p" + std::to_string(r / kQueueRows) + " " + kQueueRowNames[r % kQueueRows]);
    map.values.push_back(columns.values[r]);
  }
  return svg(map);
}

std::string plane_map(const Outcome& o, const topo::Topology& t, const TimeAxis& axis) {
  const double could = static_cast<double>(t.spec().host_link.bits_per_second) * t.hosts() / 1e9;
  Columns columns(o, axis, t.planes(), [&](std::size_t p, const Sample& before, const Sample& s) {
    return 100 * gbps(s.plane_bytes[p] - before.plane_bytes[p], s.when - before.when) / could;
  });
  HeatMap map{"Use of the wires to the hosts, by plane",
              axis.label,
              "%",
              {},
              columns.times,
              columns.values,
              marks_of(o, axis)};
  for (std::size_t p = 0; p < t.planes(); ++p) map.rows.push_back("p" + std::to_string(p));
  return svg(map);
}

std::vector<std::pair<double, double>> cdf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::vector<std::pair<double, double>> out;
  const std::size_t step = std::max<std::size_t>(values.size() / kCdfPoints, 1);
  for (std::size_t i = 0; i < values.size(); i += step)
    out.emplace_back(values[i], static_cast<double>(i) / static_cast<double>(values.size()));
  if (!values.empty()) out.emplace_back(values.back(), 1.0);
  return out;
}

std::string completion(const Outcome& o) {
  LinePlot plot{"Completion times: part of the messages that were done within", "us", "part", {}, {}, 1.0};
  for (std::size_t j = 0; j < o.jobs.size(); ++j) {
    std::vector<double> times;
    for (const sim::Flow& f : o.flows) {
      if (sim::Ensemble::member_of(f.tag) == j && f.received != sim::kNeverPs)
        times.push_back(sim::microseconds(f.received - f.start));
    }
    if (!times.empty()) plot.lines.push_back({o.jobs[j].name, cdf(std::move(times))});
  }
  return plot.lines.empty() ? "" : svg(plot);
}

std::string expectations(const Outcome& o) {
  if (o.checks.empty()) return "";
  std::vector<std::vector<Cell>> rows;
  for (const Checked& c : o.checks) {
    rows.push_back({cell(c.wanted.figure), c.known ? cell(c.found) : cell(std::string("no such figure")),
                    c.wanted.min ? cell(*c.wanted.min) : cell(std::string()),
                    c.wanted.max ? cell(*c.wanted.max) : cell(std::string()),
                    cell(c.met ? "met" : "missed", c.met ? Tone::good : Tone::bad)});
  }
  return "<h2>Expectations</h2>" + table({"figure", "found", "at least", "at most", ""}, rows);
}

std::string jobs_and_phases(const Outcome& o) {
  std::vector<std::vector<Cell>> rows;
  for (const JobFigures& j : o.jobs)
    rows.push_back({cell(j.name), cell(static_cast<double>(j.flows)), cell(static_cast<double>(j.unfinished)),
                    cell(j.completion_us.mean), cell(j.completion_us.p50), cell(j.completion_us.p99),
                    cell(j.completion_us.max), cell(j.goodput_gbps), cell(percent(j.of_line_rate)),
                    cell(j.fairness)});
  std::string out = "<h2>Jobs</h2>" + table({"job", "messages", "unfinished", "mean us", "p50", "p99", "max",
                                             "Gb/s", "of line rate", "fairness"},
                                            rows);
  if (o.phases.empty()) return out;
  rows.clear();
  for (const PhaseFigures& p : o.phases)
    rows.push_back({cell(p.name), cell(p.goodput_gbps), cell(percent(p.of_line_rate))});
  return out + "<h2>Phases</h2>" + table({"phase", "Gb/s", "of line rate"}, rows);
}

std::vector<Cell> link_row(const std::string& name, const sim::LinkUse& u) {
  return {cell(name),
          cell(static_cast<double>(u.links)),
          cell(percent(u.use_mean)),
          cell(percent(u.use_max)),
          cell(static_cast<double>(u.depth_max)),
          cell(static_cast<double>(u.marks)),
          cell(static_cast<double>(u.trims)),
          cell(static_cast<double>(u.drops)),
          cell(static_cast<double>(u.losses))};
}

std::string links(const Outcome& o) {
  std::vector<std::vector<Cell>> rows;
  for (std::size_t g = 0; g < o.summary.by_group.size(); ++g) {
    if (o.summary.by_group[g].links > 0)
      rows.push_back(link_row(sim::kLinkGroupNames[g], o.summary.by_group[g]));
  }
  for (std::size_t p = 0; p < o.summary.by_plane.size(); ++p)
    rows.push_back(link_row("plane " + std::to_string(p), o.summary.by_plane[p]));
  std::string out = "<h2>Links</h2>" + table({"kind", "directions", "mean use", "max use", "queue max, bytes",
                                              "marks", "trims", "drops", "losses"},
                                             rows);
  rows.clear();
  for (const LinkFigures& l : o.busiest)
    rows.push_back({cell(l.name), cell(percent(l.use)), cell(static_cast<double>(l.counters.max_depth)),
                    cell(static_cast<double>(l.counters.trims))});
  return out + "<h2>Busiest links</h2>" + table({"link", "use", "queue max, bytes", "trims"}, rows);
}

std::string head(const Scenario& s, const topo::Topology& t, const Outcome& o) {
  const sim::Summary& sum = o.summary;
  const bool ok = o.passed();
  return tiles(
      {{"verdict", ok ? "passed" : "not passed", o.unfinished, ok ? Tone::good : Tone::bad},
       {"messages", brief(static_cast<double>(sum.flows)),
        brief(static_cast<double>(sum.unfinished)) + " unfinished"},
       {"completion p99", brief(sum.completion_us.p99) + " us",
        "max " + brief(sum.completion_us.max) + " us"},
       {"slowdown max", brief(sum.slowdown.max), "mean " + brief(sum.slowdown.mean)},
       {"goodput", brief(sum.goodput_gbps) + " Gb/s", "fairness " + brief(sum.flow_fairness)},
       {"trims", brief(static_cast<double>(sum.trims)), brief(sum.trims_per_packet) + " per useful packet"},
       {"repairs", brief(static_cast<double>(sum.packets.repairs)),
        brief(static_cast<double>(sum.losses + sum.drops)) + " lost"},
       {"simulated", brief(sim::microseconds(o.ended)) + " us", "seed " + std::to_string(s.world.hosts.seed)},
       {"fabric", counted(t.hosts(), "host"),
        counted(t.planes(), "plane") + ", " + counted(t.switches(), "switch")},
       {"cost", brief(sum.cost.cpu_seconds) + " CPU s",
        brief(static_cast<double>(sum.cost.peak_rss_bytes)) + "B"}});
}

}  // namespace

std::string report(const Scenario& s, const topo::Topology& t, const Outcome& o, const std::string& source) {
  const TimeAxis axis(o.ended);
  std::string body = head(s, t, o) + expectations(o);
  if (o.samples.size() > 2) {
    body += "<h2>Over time</h2>" + rates(o, axis) + plane_map(o, t, axis) + queue_map(o, axis) +
            troubles(o, axis);
  }
  body += "<h2>Messages</h2>" + completion(o) + jobs_and_phases(o) + links(o);
  body += "<details><summary>The scenario</summary><pre>" + escaped(source) + "</pre></details>";
  return page(s.name, s.description.empty() ? s.file : s.description, body);
}

}  // namespace mrc::scenario
