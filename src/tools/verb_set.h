// The verbs of a noun that has several: each describes itself, and the one that was said runs.
#pragma once

#include <CLI/CLI.hpp>
#include <utility>
#include <vector>

#include "tools/commands.h"

namespace mrc::tools {

struct Verb {
  const char* name;
  const char* summary;
  Run (*describe)(CLI::App&);
};

/// Adds them to the noun and returns what runs the one that was said.
inline Run add_verbs(CLI::App& noun, std::initializer_list<Verb> verbs) {
  std::vector<std::pair<CLI::App*, Run>> described;
  for (const Verb& verb : verbs) {
    CLI::App* app = noun.add_subcommand(verb.name, verb.summary);
    described.emplace_back(app, verb.describe(*app));
  }
  noun.require_subcommand(1);
  return [described = std::move(described)] {
    for (const auto& [verb, run] : described) {
      if (verb->parsed()) return run();
    }
    return 1;
  };
}

}  // namespace mrc::tools
