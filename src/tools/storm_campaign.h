// A campaign of `mrc storm`: worlds of many seeds on a few threads, and one report. What it says depends on
// the seeds only: broken worlds are told in the order of their seeds, whichever thread was faster.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace mrc::tools {

struct SeedRange {
  std::uint64_t first = 1, last = 1000;
};

/// What became of one world.
struct Judged {
  std::string broken;       // empty, or which promise was broken
  std::uint64_t trace = 0;  // a digest of what happened
  std::vector<std::uint64_t> counts;
  double took_us = 0;
};

/// One kind of world.
struct StormKind {
  struct Count {
    const char *key, *noun, *rest = "";  // in JSON, and in the report for people
  };
  std::string command;  // replays a world when a seed follows
  std::vector<Count> counts;
  bool timed = false;  // the slowest world is worth knowing
  /// `again`: in another way, if there is one; the trace must be the same.
  std::function<Judged(std::uint64_t seed, bool again)> run;
};

class Campaign {
 public:
  Campaign(StormKind kind, SeedRange range, unsigned jobs, bool json);

  /// The exit status: 1 when a world was broken.
  int run();

 private:
  struct Broken {
    std::uint64_t seed;
    std::string why;
  };

  void work();
  void add(std::uint64_t seed, Judged judged);
  void settle(std::uint64_t seed, const Judged& judged);
  void show_progress();
  std::string text() const;
  std::string json() const;

  const StormKind kind_;
  const SeedRange range_;
  const unsigned jobs_;
  const bool json_;
  std::atomic<std::uint64_t> started_ = 0, done_ = 0, found_ = 0;
  std::mutex mutex_;
  std::map<std::uint64_t, Judged> early_;  // ended before a smaller seed did
  std::uint64_t settled_ = 0;              // worlds that are in what follows
  std::vector<std::uint64_t> totals_;
  std::vector<Broken> broken_;
  double slowest_us_ = 0;
  std::uint64_t slowest_seed_ = 0;
};

}  // namespace mrc::tools
