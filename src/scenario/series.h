// What happened over time: samples of a running world, at an interval that grows with the run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "scenario/scenario.h"
#include "sim/world.h"

namespace mrc::scenario {

/// Switch ports by plane and by where they lead; rows of the queue heat map.
enum class QueueRow : std::uint8_t { to_host, t0_up, t1_down, t1_up, t2_down };
inline constexpr int kQueueRows = 5;
inline constexpr const char* kQueueRowNames[kQueueRows] = {"to_host", "t0_up", "t1_down", "t1_up", "t2_down"};

/// All counts are since the start of the run; depths are of that instant.
struct Sample {
  sim::Ps when = 0;
  std::uint64_t delivered = 0;     // payload bytes
  std::uint64_t data_packets = 0;  // that left NICs
  std::uint64_t repairs = 0;
  std::uint64_t trims = 0, marks = 0, lost = 0;  // lost: losses and drops
  std::vector<std::uint64_t> plane_bytes;        // on the wires to hosts, by plane
  std::vector<std::uint32_t> depth;              // largest data queue, by plane x kQueueRows + row
};

class Series {
 public:
  static constexpr std::size_t kMostRows = 1'000'000;

  /// `interval` 0: begins short, and doubles whenever there are too many samples. Else it is kept until there
  /// are `most` of them.
  Series(const topo::Topology& topology, sim::Ps interval, std::size_t most = kMostRows);

  bool due(sim::Ps now) const { return now >= next_; }
  void take(sim::World& world, const sim::Progress& progress);
  const std::vector<Sample>& samples() const { return samples_; }
  sim::Ps interval() const { return interval_; }

 private:
  void halve();

  std::vector<Sample> samples_;
  sim::Ps interval_;
  sim::Ps next_ = 0;
  std::size_t most_;
};

/// Payload that arrived in each phase.
class PhaseMeter {
 public:
  explicit PhaseMeter(const std::vector<Phase>& phases);
  void note(const sim::Progress& p);
  /// Bytes from the phase's beginning to its end, or to the run's.
  double bytes(std::size_t phase) const { return at_end(phase) - begin_[phase]; }
  sim::Ps length(std::size_t phase) const;
  /// The longest time between two arrivals of payload, to a window's precision; and to the end of a run that
  /// was stopped while more was wanted.
  sim::Ps silence() const { return silence_; }
  sim::Ps silence_until(sim::Ps end) const {
    return heard_ > 0 ? std::max(silence_, end - heard_) : silence_;
  }

 private:
  double at_end(std::size_t phase) const { return end_[phase] < 0 ? last_ : end_[phase]; }

  const std::vector<Phase>& phases_;
  std::vector<double> begin_, end_;  // delivered by then; end_ < 0: not reached
  double last_ = 0;
  sim::Ps now_ = 0;
  sim::Ps heard_ = 0;  // end of the last window in which payload arrived
  sim::Ps silence_ = 0;
};

}  // namespace mrc::scenario
