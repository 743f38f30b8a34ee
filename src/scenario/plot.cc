#include "scenario/plot.h"

#include <algorithm>

#include "scenario/plot_frame.h"

namespace mrc::scenario {
namespace {

constexpr int kColours = 8;

std::string legend(const LinePlot& plot, const PlotFrame& f) {
  std::string out;
  double x = f.left + 90;
  for (std::size_t i = 0; i < plot.lines.size() && plot.lines.size() > 1; ++i) {
    const std::string& name = plot.lines[i].name;
    draw(out,
         "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"14\" y2=\"14\" style=\"stroke:var(--c%zu);stroke-width:3\"/>", x,
         x + 18, i % kColours);
    draw(out, "<text class=\"key\" x=\"%.1f\" y=\"18\">", x + 23);
    out += escaped(name) + "</text>";
    x += 40 + 6.6 * static_cast<double>(name.size());
  }
  return out;
}

void fit(const LinePlot& plot, PlotFrame& f) {
  double low = 1e300, high = -1e300, top = 0;
  for (const Line& line : plot.lines) {
    for (const auto& [x, y] : line.points) {
      low = std::min(low, x);
      high = std::max(high, x);
      top = std::max(top, y);
    }
  }
  f.x0 = low > high ? 0 : low;
  f.x1 = high > f.x0 ? high : f.x0 + 1;
  f.y1 = plot.y_max > 0 ? plot.y_max : top > 0 ? top * 1.06 : 1;
}

}  // namespace

std::string svg(const LinePlot& plot) {
  PlotFrame f;
  fit(plot, f);
  std::string out = f.open(plot.caption) + f.x_axis(plot.x_label) + f.y_axis(plot.y_label) + legend(plot, f);
  for (std::size_t i = 0; i < plot.lines.size(); ++i) {
    draw(out, "<polyline style=\"stroke:var(--c%zu)\" points=\"", i % kColours);
    for (const auto& [x, y] : plot.lines[i].points) draw(out, "%.1f,%.1f ", f.x(x), f.y(std::min(y, f.y1)));
    out += "\"><title>" + escaped(plot.lines[i].name) + "</title></polyline>";
  }
  return out + f.marks(plot.marks) + PlotFrame::close();
}

std::string svg(const HeatMap& map) {
  constexpr double kRow = 18;
  if (map.times.empty() || map.rows.empty()) return "";
  PlotFrame f;
  f.left = 118;
  f.height = f.top + f.bottom + kRow * static_cast<double>(map.rows.size());
  f.x0 = 0;
  f.x1 = map.times.back() > 0 ? map.times.back() : 1;
  double most = 0;
  for (const auto& row : map.values) {
    for (const double v : row) most = std::max(most, v);
  }
  std::string out = f.open(map.caption) + f.x_axis(map.x_label);
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    const double y = f.top + kRow * static_cast<double>(r);
    draw(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", f.left - 8, y + kRow - 5);
    out += escaped(map.rows[r]) + "</text>";
    double from = 0;
    for (std::size_t c = 0; c < map.times.size(); ++c) {
      const double v = map.values[r][c];
      if (v > 0 && most > 0) {
        draw(out,
             "<rect class=\"heat\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
             "fill-opacity=\"%.2f\"><title>",
             f.x(from), y + 1, std::max(f.x(map.times[c]) - f.x(from), 0.5), kRow - 2, v / most);
        out += escaped(brief(v) + " " + map.unit) + "</title></rect>";
      }
      from = map.times[c];
    }
  }
  draw(out, "<text x=\"%.1f\" y=\"18\" text-anchor=\"end\">darkest: ", f.width - f.right);
  return out + escaped(brief(most) + " " + map.unit) + "</text>" + f.marks(map.marks) + PlotFrame::close();
}

std::string svg(const BarPlot& plot) {
  constexpr double kRow = 22;
  PlotFrame f;
  f.left = 20;
  std::size_t longest = 0;
  double most = 0;
  for (const Bar& b : plot.bars) {
    longest = std::max(longest, b.name.size());
    most = std::max(most, b.value);
  }
  f.left += std::min(6.6 * static_cast<double>(longest), 420.0);
  f.top = 10;
  f.right = 90;
  f.bottom = 10;
  f.height = 20 + kRow * static_cast<double>(plot.bars.size());
  f.x1 = most > 0 ? most : 1;
  std::string out = f.open(plot.caption);
  for (std::size_t i = 0; i < plot.bars.size(); ++i) {
    const Bar& b = plot.bars[i];
    const double y = f.top + kRow * static_cast<double>(i);
    draw(out, "<text class=\"key\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", f.left - 8, y + 15);
    out += escaped(b.name) + "</text>";
    draw(out, "<rect class=\"bar%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\"/>",
         b.bad ? " bad" : "", f.left, y + 3, std::max(f.x(b.value) - f.left, 0.5), kRow - 6);
    draw(out, "<text x=\"%.1f\" y=\"%.1f\">", std::max(f.x(b.value), f.left) + 6, y + 15);
    out += escaped(brief(b.value) + " " + plot.unit) + "</text>";
  }
  return out + PlotFrame::close();
}

}  // namespace mrc::scenario
