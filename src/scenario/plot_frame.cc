#include "scenario/plot_frame.h"

#include <cmath>

namespace mrc::scenario {
namespace {

constexpr std::size_t kMostLabels = 12;

}  // namespace

double round_step(double range, int parts) {
  if (!(range > 0)) return 1;
  const double raw = range / parts;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (raw <= factor * power) return factor * power;
  }
  return 10 * power;
}

std::string PlotFrame::open(const std::string& caption) const {
  std::string out = "<figure><figcaption>" + escaped(caption) + "</figcaption>";
  draw(out, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", width, height);
  return out + escaped(caption) + "\">";
}

std::string PlotFrame::x_axis(const std::string& label) const {
  std::string out;
  const double step = round_step(x1 - x0, 10);
  for (double v = std::ceil(x0 / step) * step; v <= x1 * (1 + 1e-9); v += step) {
    draw(out, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", x(v), x(v), top,
         floor());
    draw(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>", x(v), floor() + 16,
         brief(std::fabs(v) < step / 2 ? 0 : v).c_str());
  }
  draw(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", width - right, height - 8);
  return out + escaped(label) + "</text>";
}

std::string PlotFrame::y_axis(const std::string& label) const {
  std::string out;
  const double step = round_step(y1, 5);
  for (double v = 0; v <= y1 * (1 + 1e-9); v += step) {
    draw(out, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", left, width - right,
         y(v), y(v));
    draw(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>", left - 8, y(v) + 4,
         brief(v).c_str());
  }
  draw(out, "<text x=\"%.1f\" y=\"%.1f\">", 10.0, 18.0);
  return out + escaped(label) + "</text>";
}

std::string PlotFrame::marks(const std::vector<PlotMark>& all) const {
  std::string out;
  double taken = -1e9;
  std::size_t labels = 0;
  for (const PlotMark& m : all) {
    if (m.x < x0 || m.x > x1) continue;
    draw(out, "<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"><title>", x(m.x), x(m.x),
         top, floor());
    out += escaped(m.label) + "</title></line>";
    if (x(m.x) < taken || ++labels > kMostLabels) continue;
    const bool leftward = x(m.x) > width * 0.8;
    draw(out, "<text class=\"mark\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x(m.x) + (leftward ? -3 : 3),
         top - 3, leftward ? "end" : "start");
    out += escaped(m.label) + "</text>";
    taken = x(m.x) + 6.0 * static_cast<double>(m.label.size()) + 8;
  }
  return out;
}

}  // namespace mrc::scenario
