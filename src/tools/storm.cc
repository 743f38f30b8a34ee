// `mrc storm`: seeded worlds of trouble for two engines, judged by oracles.
#include "pair/storm.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "tools/commands.h"

namespace mrc::tools {
namespace {

struct Options {
  std::string seeds = "1..1000";
  unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
  bool json = false;
};

struct Range {
  std::uint64_t first = 0, last = 0;
};

/// "A..B" or "A".
std::optional<Range> parse_range(const std::string& text) {
  Range r;
  int used = 0;
  unsigned long long a = 0, b = 0;
  if (std::sscanf(text.c_str(), "%llu..%llu%n", &a, &b, &used) == 2 && used == static_cast<int>(text.size()))
    r = {a, b};
  else if (std::sscanf(text.c_str(), "%llu%n", &a, &used) == 1 && used == static_cast<int>(text.size()))
    r = {a, a};
  else
    return std::nullopt;
  return r.first <= r.last ? std::optional(r) : std::nullopt;
}

thread_local std::uint64_t running_seed = 0;

void tell_seed() {
  std::fprintf(stderr, "replay: mrc storm --seeds %llu\n", static_cast<unsigned long long>(running_seed));
}

class Campaign {
 public:
  explicit Campaign(const Options& o, Range range) : options_(o), range_(range), next_(range.first) {}

  int run() {
    on_check_failure = tell_seed;
    std::vector<std::thread> crew;
    for (unsigned i = 0; i < options_.jobs; ++i) crew.emplace_back([this] { work(); });
    show_progress();
    for (auto& t : crew) t.join();
    summarise();
    return broken_ == 0 ? 0 : 1;
  }

 private:
  void work() {
    for (std::uint64_t seed = next_++; seed <= range_.last; seed = next_++) {
      running_seed = seed;
      pair::StormOutcome o = pair::run_storm(seed);
      // Every sixteenth world is run again: the same seed must give the same trace.
      if (o.broken.empty() && seed % 16 == 0 && pair::run_storm(seed).trace != o.trace)
        o.broken = "the trace differs when repeated";
      add(seed, o);
    }
  }

  void add(std::uint64_t seed, const pair::StormOutcome& o) {
    const std::lock_guard lock(mutex_);
    ++done_;
    total_.packets += o.packets;
    total_.repairs += o.repairs;
    total_.retries += o.retries;
    total_.works += o.works;
    total_.failures += o.failures;
    if (o.broken.empty()) return;
    if (broken_++ < 20) {
      std::fprintf(stderr, "\nseed %llu: %s\n  replay: mrc storm --seeds %llu\n",
                   static_cast<unsigned long long>(seed), o.broken.c_str(),
                   static_cast<unsigned long long>(seed));
    }
  }

  void show_progress() {
    const std::uint64_t all = range_.last - range_.first + 1;
    const auto start = std::chrono::steady_clock::now();
    while (isatty(STDERR_FILENO) != 0 && done_ < all) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      const double rate = static_cast<double>(done_) / s;
      std::fprintf(stderr, "\r%llu of %llu worlds, %.0f/s, %.0f s left, %llu broken ",
                   static_cast<unsigned long long>(done_), static_cast<unsigned long long>(all), rate,
                   static_cast<double>(all - done_) / std::max(rate, 1.0),
                   static_cast<unsigned long long>(broken_));
    }
    if (isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\n");
  }

  void summarise() const {
    if (options_.json) {
      JsonWriter json;
      json.begin_object()
          .field("worlds", std::uint64_t{done_})
          .field("broken", std::uint64_t{broken_})
          .field("works", total_.works);
      json.field("packets", total_.packets).field("repairs", total_.repairs).field("retries", total_.retries);
      json.field("failed_works", total_.failures).end_object();
      std::printf("%s\n", json.text().c_str());
      return;
    }
    std::printf(
        "%llu worlds, %llu broken; %llu works, %llu packets, %llu repairs, %llu retries, %llu works failed "
        "as expected\n",
        static_cast<unsigned long long>(done_), static_cast<unsigned long long>(broken_),
        static_cast<unsigned long long>(total_.works), static_cast<unsigned long long>(total_.packets),
        static_cast<unsigned long long>(total_.repairs), static_cast<unsigned long long>(total_.retries),
        static_cast<unsigned long long>(total_.failures));
  }

  Options options_;
  Range range_;
  std::atomic<std::uint64_t> next_, done_ = 0, broken_ = 0;
  std::mutex mutex_;
  pair::StormOutcome total_;
};

}  // namespace

Run storm(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("--seeds", o->seeds, "worlds to run: A..B, or one seed to replay")->capture_default_str();
  app.add_option("--jobs", o->jobs, "threads")->check(CLI::Range(1u, 1024u))->capture_default_str();
  app.add_flag("--json", o->json, "one JSON object at the end");
  app.footer("Example: mrc storm --seeds 1..10000 --jobs 2");
  return [o] {
    const auto range = parse_range(o->seeds);
    if (!range) {
      std::fprintf(stderr, "mrc storm: --seeds %s: give a range A..B with A <= B, or one seed\n",
                   o->seeds.c_str());
      return 1;
    }
    return Campaign(*o, *range).run();
  };
}

}  // namespace mrc::tools
