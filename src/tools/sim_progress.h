// What a running simulation shows of itself on stderr, and its limit on wall time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "scenario/outcome.h"

namespace mrc::tools {

enum class ProgressMode : std::uint8_t {
  off,
  line,   // one that changes in place: for terminals
  lines,  // one JSON object per second: for files and programs
};
/// `line` on a terminal, else off.
ProgressMode default_progress();

struct ProgressGoals {
  std::uint64_t bytes = 0;      // payload in all; 0: unknown
  sim::Ps end = sim::kNeverPs;  // of simulated time
  double wall_seconds = 0;      // stop after; 0: never
};

class SimProgress {
 public:
  SimProgress(ProgressMode mode, const ProgressGoals& goals);
  ~SimProgress() { clear(); }

  scenario::Stop note(const sim::Progress& p);
  /// Leaves the terminal's line free for others.
  void clear();
  bool out_of_time() const { return out_of_time_; }

 private:
  using Clock = std::chrono::steady_clock;
  double part_done(const sim::Progress& p) const;
  void show(const sim::Progress& p, double elapsed, double since_last);

  ProgressMode mode_;
  ProgressGoals goals_;
  Clock::time_point start_, last_;
  sim::Progress before_;
  bool shown_ = false;
  bool out_of_time_ = false;
};

}  // namespace mrc::tools
