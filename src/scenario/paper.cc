#include "scenario/paper.h"

#include <algorithm>
#include <cstdio>

#include "base/json.h"
#include "scenario/html.h"
#include "scenario/plot.h"

namespace mrc::scenario {
namespace {

std::string missed(const Point& p) {
  if (!p.error.empty()) return p.error;
  const Figures f = Figures::from_json(p.json);
  std::string out;
  for (const auto& [name, value] : f.all()) {
    if (name.starts_with("expectations.") && name.ends_with(".met") && value == 0) out += "x";
  }
  return out.empty() ? "not finished" : std::to_string(out.size()) + " of its bands missed";
}

std::string title_of(const PaperRow& r) {
  return r.published.id + (r.variant.empty() ? "" : " " + r.variant);
}

std::string setting_of(const PaperRow& r) {
  return r.published.setting + "; here " + std::to_string(r.hosts) + " hosts";
}

std::string baseline_text(const PaperRow& r) {
  if (r.has_baseline) return figure_text(r.published, r.baseline);
  return r.published.no_baseline.empty() ? "not run" : "not run: " + r.published.no_baseline;
}

std::string bands(const PaperRow& r) {
  std::vector<std::vector<Cell>> rows;
  const Figures f = Figures::from_json(r.mrc.json);
  for (int i = 0;; ++i) {
    const std::string prefix = "expectations." + std::to_string(i) + ".";
    const auto met = f.find(prefix + "met");
    if (!met) break;
    const auto value = [&](const char* name) {
      const auto found = f.find(prefix + name);
      return found ? cell(*found) : cell(std::string());
    };
    rows.push_back({value("found"), value("min"), value("max"),
                    cell(*met != 0 ? "met" : "missed", *met != 0 ? Tone::good : Tone::bad)});
  }
  return rows.empty() ? "" : table({"found", "at least", "at most", ""}, rows);
}

}  // namespace

std::string figure_text(const Published& published, const Point& point) {
  if (!point.error.empty()) return point.error;
  const auto found = Figures::from_json(point.json).find(published.figure);
  if (!found) return "no figure " + published.figure;
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.4g", *found * published.scale);
  return std::string(digits) + (published.unit.starts_with('%') ? " " : " ") + published.unit;
}

bool row_passed(const PaperRow& row) {
  return row.mrc.error.empty() && Figures::from_json(row.mrc.json).find("passed") == 1.0;
}

std::string paper_report(const std::vector<PaperRow>& rows, bool quick) {
  std::vector<std::vector<Cell>> cells;
  std::string details;
  for (const PaperRow& r : rows) {
    const bool ok = row_passed(r);
    cells.push_back({cell(title_of(r)), cell(setting_of(r)), cell(r.published.mrc),
                     cell(figure_text(r.published, r.mrc)),
                     cell(ok ? "within" : missed(r.mrc), ok ? Tone::good : Tone::bad), cell(r.published.roce),
                     cell(baseline_text(r))});
    details +=
        "<details><summary>" + escaped(title_of(r) + ": " + r.file) + "</summary>" + bands(r) + "</details>";
  }
  BarPlot plot{"Figures given as a part of line rate", "%", {}};
  for (const PaperRow& r : rows) {
    const auto found = Figures::from_json(r.mrc.json).find(r.published.figure);
    if (found && r.published.figure.ends_with("of_line_rate"))
      plot.bars.push_back({title_of(r), 100 * *found, !row_passed(r)});
  }
  const auto passed = static_cast<double>(std::count_if(rows.begin(), rows.end(), row_passed));
  std::string body =
      tiles({{"within their bands", brief(passed) + " of " + brief(static_cast<double>(rows.size())), "",
              passed == static_cast<double>(rows.size()) ? Tone::good : Tone::bad},
             {"size", quick ? "quick" : "full", "of each scenario"}});
  body += "<h2>Published and ours</h2>" + table({"", "setting", "MRC as published", "MRC here", "bands",
                                                 "RoCEv2 as published", "RoCEv2 here"},
                                                cells);
  return page(
      "The published results, and ours",
      "Each row is a scenario of share/scenarios/paper, run with the engine, NIC and switch that ship.",
      body + svg(plot) + "<h2>Bands</h2>" + details);
}

std::string paper_text(const std::vector<PaperRow>& rows) {
  std::string out;
  for (const PaperRow& r : rows) {
    out += title_of(r) + ": " + setting_of(r) + "\n  published  " + r.published.mrc + "\n  here       " +
           figure_text(r.published, r.mrc) + (row_passed(r) ? ", within its bands" : "; " + missed(r.mrc)) +
           "\n";
    out += "  RoCEv2     " + baseline_text(r) +
           (r.published.roce.empty() ? "" : "; published: " + r.published.roce) + "\n";
  }
  return out;
}

std::string paper_json(const std::vector<PaperRow>& rows) {
  std::string out = "[";
  for (const PaperRow& r : rows) {
    JsonWriter json;
    json.begin_object()
        .field("id", r.published.id)
        .field("setting", r.published.setting)
        .field("hosts", r.hosts)
        .field("file", r.file);
    json.field("variant", r.variant)
        .field("published_mrc", r.published.mrc)
        .field("published_roce", r.published.roce);
    json.field("figure", r.published.figure).field("here", figure_text(r.published, r.mrc));
    json.field("roce_here", baseline_text(r)).field("passed", row_passed(r)).end_object();
    std::string text = json.text();
    if (r.mrc.error.empty()) text.insert(text.size() - 1, ",\"result\":" + r.mrc.json);
    out += (out.size() > 1 ? "," : "") + text;
  }
  return out + "]";
}

}  // namespace mrc::scenario
