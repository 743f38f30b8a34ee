// Plots as inline SVG, coloured by the page's style: lines over time, curves, heat maps, bars.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mrc::scenario {

struct Line {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

/// A moment worth seeing; many close together are drawn without their labels.
struct PlotMark {
  double x = 0;
  std::string label;
};

struct LinePlot {
  std::string caption, x_label, y_label;
  std::vector<Line> lines;
  std::vector<PlotMark> marks;
  double y_max = 0;  // 0: what the lines need
};
std::string svg(const LinePlot& plot);

/// Rows over time, from nothing to `most`.
struct HeatMap {
  std::string caption, x_label, unit;
  std::vector<std::string> rows;
  std::vector<double> times;                // the end of each column
  std::vector<std::vector<double>> values;  // by row, by column
  std::vector<PlotMark> marks;
};
std::string svg(const HeatMap& map);

struct Bar {
  std::string name;
  double value = 0;
  bool bad = false;
};
struct BarPlot {
  std::string caption, unit;
  std::vector<Bar> bars;
};
std::string svg(const BarPlot& plot);

/// A round step that cuts 0 .. `range` into about `parts`.
double round_step(double range, int parts);

}  // namespace mrc::scenario
