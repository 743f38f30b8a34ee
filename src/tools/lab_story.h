// A transfer between two hosts of a lab while the lab breaks, phase by phase.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "lab/lab.h"
#include "tools/bulk.h"
#include "tools/lab_transfer.h"

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

/// A transfer at its end.
struct Ends {
  BulkSample sender, receiver;
  /// Everything sent arrived, unharmed, and nothing was reported as failed.
  bool whole() const {
    return receiver.messages > 0 && receiver.messages == sender.messages && receiver.corrupt == 0 &&
           receiver.failed == 0 && sender.failed == 0;
  }
};

struct StoryResult : Ends {  // of the first transfer
  std::vector<PhaseResult> phases;
  std::vector<Ends> others;
  bool flawless() const {
    return whole() && std::all_of(others.begin(), others.end(), [](const Ends& e) { return e.whole(); });
  }
};

/// Told every sample of the sender: which phase, and how long it has run.
using StoryWatcher = std::function<void(std::size_t phase, double seconds, const BulkSample&)>;

/// Runs the phases in turn, by the clock of the first transfer, while each `from` writes to its `to`.
/// REQUIRES: one thread.
Result<StoryResult> run_story(lab::Lab& lab, const std::vector<TransferEnds>& transfers,
                              const std::vector<Phase>& phases, const StoryWatcher& watch,
                              const BulkSettings& settings = {});

/// The phases of `./run`: a T0-T1 cable, a flapping one, a T1, a NIC port, and everything healed.
std::vector<Phase> usual_story(double seconds_each);

}  // namespace mrc::tools
