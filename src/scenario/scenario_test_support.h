// For tests of scenarios: a text in, what it means, why it is refused, or what became of it out.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "scenario/document.h"
#include "scenario/outcome.h"
#include "scenario/prepare.h"

namespace mrc::scenario {

inline Result<Scenario> read_text(const std::string& text) {
  const auto document = Document::parse(text, "x.toml");
  if (!document) return document.error();
  return document->scenario();
}

/// The sentence with which a text is refused, by its form or because its parts do not fit; empty: it runs.
inline std::string refusal(const std::string& text) {
  const auto scenario = read_text(text);
  if (!scenario) return scenario.error().what;
  const auto prepared = prepare(*scenario);
  return prepared ? "" : prepared.error().what;
}

struct Ran {
  Scenario scenario;
  std::unique_ptr<Prepared> prepared;
  Outcome outcome;
};

inline Ran run_text(const std::string& text, unsigned threads = 1) {
  auto scenario = read_text(text);
  EXPECT_TRUE(scenario) << scenario.error().what;
  scenario->world.threads = threads;
  auto prepared = prepare(*scenario);
  EXPECT_TRUE(prepared) << prepared.error().what;
  Ran ran{*scenario, std::make_unique<Prepared>(std::move(*prepared)), {}};
  ran.outcome = run(ran.scenario, *ran.prepared, {.samples = true, .all_links = true});
  return ran;
}

/// One stream without end between two hosts, over two planes.
inline const std::string kPair = R"([topology]
planes = 2
t0 = 2
t1 = 2
hosts_per_t0 = 2
[limits]
time = "200us"
[[job]]
name = "stream"
kind = "streams"
pairs = [[0, 2]]
bytes = "32KiB"
depth = 16
)";

}  // namespace mrc::scenario
