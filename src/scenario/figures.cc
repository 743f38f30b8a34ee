#include "scenario/figures.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "scenario/table_reader.h"

namespace mrc::scenario {
namespace {

using Json = nlohmann::json;

std::string segment_of(const Json& element, std::size_t place) {
  for (const char* key : {"name", "kind"}) {
    const auto found = element.is_object() ? element.find(key) : element.end();
    if (found != element.end() && found->is_string()) return found->get<std::string>();
  }
  return std::to_string(place);
}

void flatten(const Json& at, const std::string& name, std::vector<std::pair<std::string, double>>& out) {
  const std::string prefix = name.empty() ? "" : name + ".";
  if (at.is_number()) out.emplace_back(name, at.get<double>());
  if (at.is_boolean()) out.emplace_back(name, at.get<bool>() ? 1 : 0);
  if (at.is_object()) {
    for (const auto& [key, value] : at.items()) flatten(value, prefix + key, out);
  }
  if (at.is_array()) {
    for (std::size_t i = 0; i < at.size(); ++i) flatten(at[i], prefix + segment_of(at[i], i), out);
  }
}

std::string number(double v) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.6g", v);
  return digits;
}

}  // namespace

Figures Figures::from_json(const std::string& json) {
  Figures figures;
  const Json parsed = Json::parse(json, nullptr, false);
  if (!parsed.is_discarded()) flatten(parsed, "", figures.all_);
  return figures;
}

std::optional<double> Figures::find(std::string_view name) const {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const auto& f) { return f.first == name; });
  if (found == all_.end()) return std::nullopt;
  return found->second;
}

std::string Figures::nearest(std::string_view name) const {
  std::vector<std::string> names;
  for (const auto& [known, value] : all_) names.push_back(known);
  return scenario::nearest(name, names);
}

std::vector<Checked> check(const std::vector<Expectation>& expectations, const Figures& figures) {
  std::vector<Checked> out;
  for (const Expectation& e : expectations) {
    Checked c{e};
    if (const auto found = figures.find(e.figure)) {
      c.known = true;
      c.found = *found;
      c.met = (!e.min || c.found >= *e.min) && (!e.max || c.found <= *e.max);
    }
    out.push_back(std::move(c));
  }
  return out;
}

std::string text(const Checked& c, const Figures& figures) {
  const std::string start = c.wanted.place + ": " + c.wanted.figure;
  if (!c.known) {
    const std::string near = figures.nearest(c.wanted.figure);
    return start + " is no figure of the result" +
           (near.empty() ? "; --json shows all of them" : "; did you mean '" + near + "'?");
  }
  std::string band;
  if (c.wanted.min) band += "at least " + number(*c.wanted.min);
  if (c.wanted.max) band += (band.empty() ? "at most " : " and at most ") + number(*c.wanted.max);
  return start + " is " + number(c.found) + ", expected " + band;
}

}  // namespace mrc::scenario
