// An option that is a number of bytes, as base/size.h reads it.
#pragma once

#include <CLI/CLI.hpp>
#include <limits>
#include <string>

#include "base/size.h"

namespace mrc::tools {

template <class T>
CLI::Option* add_size_option(CLI::App& app, const std::string& name, T& out, const std::string& what,
                             std::uint64_t least = 0, std::uint64_t most = std::numeric_limits<T>::max()) {
  const CLI::Validator digits(
      [=](std::string& text) {
        const auto bytes = parse_size(text);
        if (!bytes) return "'" + text + "' is no size: write it as " + kSizeExamples;
        if (*bytes < least || *bytes > most)
          return text + " is not from " + std::to_string(least) + " to " + std::to_string(most) + " bytes";
        text = std::to_string(*bytes);
        return std::string();
      },
      "");
  return app.add_option(name, out, what)->transform(digits)->type_name("SIZE");
}

}  // namespace mrc::tools
