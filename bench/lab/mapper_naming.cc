// How soon the mapper names a cable that silently swallows everything, and what it costs a node while nothing
// is wrong.
//
//   mapper_naming [--trials 40] [--json]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/map_nodes.h"

namespace mrc {
namespace {

topo::Topology fabric() {
  return *topo::Topology::make({.planes = 4, .tiers = 2, .t0 = 2, .t1 = 2, .hosts_per_t0 = 2});
}

struct Bench {
  topo::Topology topo = fabric();
  map::Settings settings = quick();
  map::Survey survey{topo, settings};

  /// Findings go as soon as the cable works again: the next trial waits for that.
  static map::Settings quick() {
    map::Settings s;
    s.hold_min = s.hold_max = 50ms;
    return s;
  }
  void run_until(tools::MapNodes& nodes, Time end, bool until_empty) {
    while (map::Mapper::now() < end && survey.findings().empty() != until_empty) {
      nodes.wait(end, survey);
      survey.advance(map::Mapper::now());
    }
  }
};

double ms(Duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

using Json = nlohmann::ordered_json;

Json measure_cost(Bench& b, tools::MapNodes& nodes) {
  Json out = Json::array();
  const auto before = nodes.reports();
  const Time began = map::Mapper::now();
  b.run_until(nodes, began + 5s, false);
  const double seconds = ms(map::Mapper::now() - began) / 1000;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto& after = nodes.reports()[i];
    const auto sent = after.counters[map::Count::sent] - before[i].counters[map::Count::sent];
    out.push_back({{"probes_per_second", static_cast<double>(sent) / seconds},
                   {"percent_of_a_core", ms(after.cpu - before[i].cpu) / seconds / 10}});
  }
  return out;
}

int measure(int trials, bool json) {
  Bench b;
  auto lab = lab::Lab::start(b.topo, {});
  if (!lab) return std::fprintf(stderr, "%s\n", lab.error().what.c_str()), 1;
  auto nodes = tools::MapNodes::start(*lab, b.topo, b.settings);
  if (!nodes) return std::fprintf(stderr, "%s\n", nodes.error().what.c_str()), 1;
  const Json cost = measure_cost(b, *nodes);
  std::vector<double> took;
  int wrong = 0;
  for (int i = 0; i < trials; ++i) {
    const topo::LinkId link(static_cast<std::uint32_t>(i) * 7 % b.topo.links());
    const Time began = map::Mapper::now();
    if (!lab->fail(b.topo.name(link), true)) return 1;
    b.run_until(*nodes, began + 5s, false);
    took.push_back(ms(map::Mapper::now() - began));
    const bool right =
        b.survey.findings().size() == 1 && name(b.topo, b.survey.findings()[0].culprit) == b.topo.name(link);
    wrong += right ? 0 : 1;
    if (!lab->heal(b.topo.name(link))) return 1;
    b.run_until(*nodes, map::Mapper::now() + 2s, true);
  }
  std::sort(took.begin(), took.end());
  const Json out = {{"nodes", cost},
                    {"trials", trials},
                    {"named_ms_median", took[took.size() / 2]},
                    {"named_ms_p95", took[took.size() * 95 / 100]},
                    {"named_ms_longest", took.back()},
                    {"named_wrong", wrong}};
  if (json) return std::printf("%s\n", out.dump(2).c_str()), 0;
  for (std::size_t i = 0; i < cost.size(); ++i)
    std::printf(
        "h%zu: %.0f probes/s, %.2f %% of one core (the lab's switches forward in the sender's time)\n", i,
        cost[i]["probes_per_second"].get<double>(), cost[i]["percent_of_a_core"].get<double>());
  std::printf("%d trials: named after %.1f ms (median), %.1f ms (p95), %.1f ms (longest); %d named wrong\n",
              trials, took[took.size() / 2], took[took.size() * 95 / 100], took.back(), wrong);
  return 0;
}

}  // namespace
}  // namespace mrc

int main(int argc, char** argv) {
  CLI::App app{"how soon the mapper names a dead cable, and what it costs a node"};
  int trials = 40;
  bool json = false;
  app.add_option("--trials", trials, "cables failed")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_flag("--json", json, "one JSON object");
  app.footer("Example: mapper_naming --trials 20");
  CLI11_PARSE(app, argc, argv);
  return mrc::measure(trials, json);
}
