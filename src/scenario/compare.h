// Several runs side by side: the points of a sweep, as a table and bars, and as JSON.
#pragma once

#include <string>
#include <vector>

#include "scenario/document.h"
#include "scenario/figures.h"

namespace mrc::scenario {

/// One run of several: what was set for it, and its result.
struct Point {
  std::vector<Setting> settings;
  std::string json;   // the result
  std::string error;  // or why there is none

  std::string label() const;
};

/// Figures that sweeps compare unless the scenario names its own in output.figures.
extern const std::vector<std::string> kComparedFigures;

std::string sweep_report(const Scenario& scenario, const std::vector<Point>& points,
                         const std::string& source);
std::string sweep_json(const Scenario& scenario, const std::vector<Point>& points);
std::string sweep_csv(const Scenario& scenario, const std::vector<Point>& points);
/// For people: a line per point.
std::string sweep_text(const Scenario& scenario, const std::vector<Point>& points);

}  // namespace mrc::scenario
