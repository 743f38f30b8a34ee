#include "scenario/compare.h"

#include <charconv>
#include <cstdio>

#include "base/json.h"
#include "scenario/html.h"
#include "scenario/plot.h"

namespace mrc::scenario {

const std::vector<std::string> kComparedFigures = {
    "completion_us.mean", "completion_us.p99", "completion_us.max",       "slowdown.max", "goodput_gbps",
    "fairness",           "repairs",           "trims_per_useful_packet", "cpu_seconds"};

namespace {

const std::vector<std::string>& figures_of(const Scenario& s) {
  return s.outputs.figures.empty() ? kComparedFigures : s.outputs.figures;
}

/// As a person would write it: without quotes, and a number with the fewest digits that mean it.
std::string shown(const std::string& value) {
  const bool quoted = value.size() > 1 && (value.front() == '"' || value.front() == '\'');
  if (quoted) return value.substr(1, value.size() - 2);
  double number = 0;
  const char* const end = value.data() + value.size();
  if (value.find('.') == value.npos || std::from_chars(value.data(), end, number).ptr != end) return value;
  char digits[400];  // the longest double is shorter
  const auto written = std::to_chars(digits, digits + sizeof digits, number, std::chars_format::fixed);
  return {digits, written.ptr};
}

std::string last_segment(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == path.npos ? path : path.substr(dot + 1);
}

bool passed(const Figures& f) { return f.find("passed").value_or(0) != 0; }

std::string digits(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", v);
  return text;
}

}  // namespace

std::string Point::label() const {
  std::string out;
  for (const Setting& s : settings)
    out += (out.empty() ? "" : ", ") + last_segment(s.path) + " " + shown(s.value);
  return out.empty() ? "as it is" : out;
}

std::string sweep_report(const Scenario& s, const std::vector<Point>& points, const std::string& source) {
  std::vector<std::string> head;
  if (!points.empty()) {
    for (const Setting& setting : points[0].settings) head.push_back(setting.path);
  }
  for (const std::string& f : figures_of(s)) head.push_back(f);
  head.push_back("");
  std::vector<std::vector<Cell>> rows;
  std::vector<BarPlot> plots;
  for (const std::string& f : figures_of(s)) plots.push_back({f, "", {}});
  for (const Point& p : points) {
    const Figures figures = Figures::from_json(p.json);
    auto& row = rows.emplace_back();
    for (const Setting& setting : p.settings) row.push_back(cell(shown(setting.value)));
    const bool ok = p.error.empty() && passed(figures);
    for (std::size_t i = 0; i < figures_of(s).size(); ++i) {
      const auto found = figures.find(figures_of(s)[i]);
      row.push_back(found ? cell(*found) : cell(std::string("-")));
      if (found) plots[i].bars.push_back({p.label(), *found, !ok});
    }
    row.push_back(cell(ok                ? "passed"
                       : p.error.empty() ? "not passed"
                                         : p.error,
                       ok ? Tone::good : Tone::bad));
  }
  std::string body = "<h2>All points</h2>" + table(head, rows) + "<h2>Figure by figure</h2>";
  for (const BarPlot& plot : plots) {
    if (!plot.bars.empty()) body += svg(plot);
  }
  body += "<details><summary>The scenario</summary><pre>" + escaped(source) + "</pre></details>";
  return page(s.name, s.description.empty() ? s.file : s.description, body);
}

std::string sweep_json(const Scenario& s, const std::vector<Point>& points) {
  // Results are JSON already: they are put in as they are.
  std::string out = "{\"scenario\":";
  JsonWriter name;
  out += name.value(s.name).text() + ",\"points\":[";
  for (std::size_t i = 0; i < points.size(); ++i) {
    JsonWriter json;
    json.begin_object();
    for (const Setting& setting : points[i].settings) json.field(setting.path, shown(setting.value));
    json.end_object();
    out += (i == 0 ? "" : ",") + std::string("{\"settings\":") + json.text();
    if (points[i].error.empty()) {
      out += ",\"result\":" + points[i].json + "}";
    } else {
      JsonWriter error;
      out += ",\"error\":" + error.value(points[i].error).text() + "}";
    }
  }
  return out + "]}";
}

std::string sweep_csv(const Scenario& s, const std::vector<Point>& points) {
  std::string out;
  if (!points.empty()) {
    for (const Setting& setting : points[0].settings) out += setting.path + ",";
  }
  for (const std::string& f : figures_of(s)) out += f + ",";
  out += "passed\n";
  for (const Point& p : points) {
    const Figures figures = Figures::from_json(p.json);
    for (const Setting& setting : p.settings) out += shown(setting.value) + ",";
    for (const std::string& f : figures_of(s)) {
      if (const auto found = figures.find(f)) out += digits(*found);
      out += ',';
    }
    out += passed(figures) && p.error.empty() ? "1\n" : "0\n";
  }
  return out;
}

std::string sweep_text(const Scenario& s, const std::vector<Point>& points) {
  std::string out = s.name + "\n";
  for (const Point& p : points) {
    const Figures figures = Figures::from_json(p.json);
    out += p.label() + ":";
    for (const std::string& f : figures_of(s)) {
      if (const auto found = figures.find(f)) out += "  " + f + " " + digits(*found);
    }
    out += !p.error.empty() ? "  " + p.error + "\n" : passed(figures) ? "  passed\n" : "  NOT PASSED\n";
  }
  return out;
}

}  // namespace mrc::scenario
