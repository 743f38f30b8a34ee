// Figures of a result by name: "completion_us.max", "links.t0_up.use_max", "jobs.victim.goodput_gbps".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenario/outcome.h"

namespace mrc::scenario {

class Figures {
 public:
  /// Every number of a JSON object; elements of arrays go by their "name", "kind" or place.
  static Figures from_json(const std::string& json);

  std::optional<double> find(std::string_view name) const;
  const std::vector<std::pair<std::string, double>>& all() const { return all_; }
  /// The name that a person most likely meant.
  std::string nearest(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, double>> all_;
};

std::vector<Checked> check(const std::vector<Expectation>& expectations, const Figures& figures);
/// "completion_us.max is 12.3, expected at most 10", with the scenario's line in front.
std::string text(const Checked& checked, const Figures& figures);

}  // namespace mrc::scenario
