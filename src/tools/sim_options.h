// `mrc sim` without a scenario: options that say the same as a scenario's keys, and are checked as those are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "scenario/document.h"

namespace CLI {
class App;
}

namespace mrc::tools {

/// A value that an option puts into the scenario, as TOML writes it.
struct Given {
  scenario::Setting setting;
  std::string option;  // "--evs 0", as errors begin
};

/// Adds --pattern, --cm, --evs and the rest, also those of a fabric.
void add_sim_options(CLI::App& app);
/// What was given of them.
std::vector<Given> given_options(const CLI::App& app);

/// A scenario of nothing but `given`.
Result<scenario::Document> document_of(const std::vector<Given>& given);

/// An error without the place of a file that nobody wrote.
std::string without_file(const std::string& what);

}  // namespace mrc::tools
