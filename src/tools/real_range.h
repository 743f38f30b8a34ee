// Options that are numbers with a fraction, within bounds.
#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <string>

namespace mrc::tools {

/// As CLI::Range, which takes "nan": nothing is outside bounds for it.
inline CLI::Validator real_range(double least, double most) {
  const CLI::Range within(least, most);
  return CLI::Validator(
      [within](std::string& text) {
        return std::isnan(std::strtod(text.c_str(), nullptr)) ? text + " is no number" : within(text);
      },
      within.get_description());
}

}  // namespace mrc::tools
