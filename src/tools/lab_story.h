// A transfer between two hosts of a lab while the lab breaks, phase by phase.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lab/lab.h"
#include "tools/bulk.h"

namespace mrc::tools {

struct Phase {
  std::string title;
  std::function<Status(lab::Lab&)> begin;  // what breaks or heals
  double seconds = 2;
};

struct PhaseResult {
  std::string title;
  double seconds = 0;
  std::uint64_t bytes = 0, repairs = 0;
  std::int64_t longest_gap_ns = 0;
  std::int64_t late_ns = 0;  // the longest that either end was kept from its work
  std::array<std::uint64_t, kMaxPlanes> sent{};
  double goodput() const { return seconds > 0 ? static_cast<double>(bytes) * 8 / seconds : 0; }
};

struct StoryResult {
  std::vector<PhaseResult> phases;
  BulkSample sender, receiver;  // at the end
  /// Everything sent arrived, unharmed, and nothing was reported as failed.
  bool flawless() const {
    return receiver.messages > 0 && receiver.messages == sender.messages && receiver.corrupt == 0 &&
           receiver.failed == 0 && sender.failed == 0;
  }
};

/// Told every sample of the sender: which phase, and how long it has run.
using StoryWatcher = std::function<void(std::size_t phase, double seconds, const BulkSample&)>;

/// Runs the phases in turn while `from` writes to `to`, each in a process of its own. REQUIRES: one thread.
Result<StoryResult> run_story(lab::Lab& lab, const std::string& from, const std::string& to,
                              const std::vector<Phase>& phases, const StoryWatcher& watch,
                              const BulkSettings& settings = {});

/// The phases of `./run`: a T0-T1 cable, a flapping one, a T1, a NIC port, and everything healed.
std::vector<Phase> usual_story(double seconds_each);

}  // namespace mrc::tools
