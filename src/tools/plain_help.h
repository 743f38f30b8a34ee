// The words of --help and of the manual for what an option takes: "1..64", not "UINT:INT in [1 - 64]".
#pragma once

#include <CLI/CLI.hpp>
#include <regex>
#include <string>

namespace mrc::tools {

inline std::string plain_type(std::string text) {
  static const std::regex range(R"((\w+:)*(INT|UINT|FLOAT) in \[(\S+) - (\S+)\])"), choice(R"(\w+:\{)");
  text = std::regex_replace(text, range, "$3..$4");
  return std::regex_replace(text, choice, "{");
}

class PlainHelp final : public CLI::Formatter {
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    // A flag that turns something off has "{false}" behind its name.
    return std::regex_replace(CLI::Formatter::make_option_name(option, positional), std::regex(R"(\{\w+\})"),
                              "");
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    return plain_type(CLI::Formatter::make_option_opts(option));
  }
};

}  // namespace mrc::tools
