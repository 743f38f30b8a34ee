// `mrc storm`: seeded worlds of trouble, judged by oracles: two engines over a bad network, or small fabrics
// in which something breaks.
#include "pair/storm.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "scenario/fault_storm.h"
#include "tools/commands.h"
#include "tools/storm_campaign.h"

namespace mrc::tools {
namespace {

constexpr int kRefused = 2;
constexpr unsigned kOtherThreads = 3;  // of the simulator, for a world that is run again

struct Options {
  std::string seeds = "1..1000";
  unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
  bool fabric = false, toml = false, json = false;
};

/// "A..B" or "A".
std::optional<SeedRange> parse_range(const std::string& text) {
  SeedRange r;
  int used = 0;
  unsigned long long a = 0, b = 0;
  // A seed is stored as a signed number in scenarios.
  if (text.find_first_of("+-") != std::string::npos) return std::nullopt;
  if (std::sscanf(text.c_str(), "%llu..%llu%n", &a, &b, &used) == 2 && used == static_cast<int>(text.size()))
    r = {a, b};
  else if (std::sscanf(text.c_str(), "%llu%n", &a, &used) == 1 && used == static_cast<int>(text.size()))
    r = {a, a};
  else
    return std::nullopt;
  if (r.last > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return r.first <= r.last ? std::optional(r) : std::nullopt;
}

StormKind pair_storm() {
  return {.command = "mrc storm",
          .counts = {{"works", "work"},
                     {"packets", "packet"},
                     {"repairs", "repair"},
                     {"retries", "retry"},
                     {"failed_works", "work", " failed as expected"}},
          .run = [](std::uint64_t seed, bool) -> Judged {
            const pair::StormOutcome o = pair::run_storm(seed);
            return {o.broken, o.trace, {o.works, o.packets, o.repairs, o.retries, o.failures}};
          }};
}

StormKind fault_storm() {
  return {
      .command = "mrc storm --fabric",
      .counts = {{"messages", "message"},
                 {"packets", "packet"},
                 {"repairs", "repair"},
                 {"failed_messages", "message", " failed"}},
      .timed = true,
      .run = [](std::uint64_t seed, bool again) -> Judged {
        const auto o = scenario::run_fault_storm(seed, {.threads = again ? kOtherThreads : 1});
        return {o.broken, o.trace, {o.messages, o.packets, o.repairs, o.failed}, sim::microseconds(o.took)};
      }};
}

int refuse(const std::string& sentence) {
  std::fprintf(stderr, "mrc storm: %s\n", sentence.c_str());
  return kRefused;
}

int run(const Options& o) {
  const auto range = parse_range(o.seeds);
  if (!range)
    return refuse("--seeds " + o.seeds +
                  ": give a range A..B with A <= B, or one seed, of 0 to 9223372036854775807");
  if (!o.toml) return Campaign(o.fabric ? fault_storm() : pair_storm(), *range, o.jobs, o.json).run();
  if (range->first != range->last)
    return refuse("--toml shows the world of one seed; give one, such as --seeds 17");
  std::printf("%s", scenario::fault_storm_scenario(range->first).c_str());
  return 0;
}

}  // namespace

Run storm(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("--seeds", o->seeds, "worlds to run: A..B, or one seed to replay")->capture_default_str();
  app.add_option("--jobs", o->jobs, "threads")->check(CLI::Range(1u, 1024u))->capture_default_str();
  CLI::Option* fabric = app.add_flag("--fabric", o->fabric,
                                     "simulated fabrics in which something breaks, instead of two engines");
  app.add_flag("--json", o->json, "one JSON object at the end");
  app.add_flag("--toml", o->toml, "print the world of one seed, for `mrc sim`")->needs(fabric);
  app.footer(
      "Example: mrc storm --seeds 1..10000 --jobs 2\n"
      "Example: mrc storm --fabric --seeds 17 --toml > 17.toml && mrc sim 17.toml --trace 0");
  return [o] { return run(*o); };
}

}  // namespace mrc::tools
