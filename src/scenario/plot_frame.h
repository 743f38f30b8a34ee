// What all plots have in common: the sheet, scales, axes, marks.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <string>

#include "scenario/html.h"
#include "scenario/plot.h"

namespace mrc::scenario {

__attribute__((format(printf, 2, 3))) inline void draw(std::string& out, const char* format, ...) {
  char buffer[512];
  va_list args;
  va_start(args, format);
  std::vsnprintf(buffer, sizeof buffer, format, args);
  va_end(args);
  out += buffer;
}

/// A rectangle in the sheet, with values along x from x0 to x1 and along y from 0 to y1.
struct PlotFrame {
  double width = 1000, height = 300;
  double left = 74, right = 18, top = 30, bottom = 42;
  double x0 = 0, x1 = 1, y1 = 1;

  double x(double v) const { return left + (v - x0) / (x1 - x0) * (width - left - right); }
  double y(double v) const { return height - bottom - v / y1 * (height - top - bottom); }
  double floor() const { return height - bottom; }

  std::string open(const std::string& caption) const;
  std::string x_axis(const std::string& label) const;
  std::string y_axis(const std::string& label) const;
  std::string marks(const std::vector<PlotMark>& marks) const;
  static std::string close() { return "</svg></figure>\n"; }
};

}  // namespace mrc::scenario
