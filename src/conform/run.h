// Runs checks against a device, each with a QP of its own, and keeps what came of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "conform/bench.h"

namespace mrc::conform {

struct CheckResult {
  Check check;
  Outcome outcome;
  Duration took{};
  std::vector<Frame> capture;  // of a failure: what passed on the wire
};

struct Report {
  std::string device;  // who was tested
  std::vector<CheckResult> results;
  int count(Outcome::Kind kind) const;
  bool conforms() const { return count(Outcome::Kind::fail) == 0 && count(Outcome::Kind::pass) > 0; }
};

/// Which checks: by role, by name, or all. An unknown name is an error that lists what there is.
struct Selection {
  std::vector<std::string> names;
  bool responder = true, requestor = true;
};
Result<std::vector<Check>> select_checks(const Selection& selection);

CheckResult run_check(const Check& check, Edge& edge, Device& device, const BenchSettings& settings);
/// `done` is told of each as it ends.
Report run_checks(const std::vector<Check>& checks, Edge& edge, Device& device, const BenchSettings& settings,
                  const std::function<void(const CheckResult&)>& done = {});

}  // namespace mrc::conform
