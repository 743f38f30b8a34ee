// What became of the probes of one target: a window of fates, loss, round-trip time, and what to call it.
#pragma once

#include <array>
#include <cstdint>

#include "map/settings.h"

namespace mrc::map {

/// `unknown`: too little is known to say.
enum class Condition : std::uint8_t { unknown, good, lossy, dead };
const char* to_string(Condition c);

/// What arrived.
enum class Arrival : std::uint8_t { answer, late, duplicate, unknown };

struct Fates {
  std::uint32_t answered = 0, lost = 0;
  /// The share that is lost, where few probes say little: one half when there are none (Laplace's rule of
  /// succession).
  double cautious_loss() const { return (lost + 1.0) / (answered + lost + 2.0); }
  Fates& operator+=(Fates o) { return answered += o.answered, lost += o.lost, *this; }
};

class Tally {
 public:
  static constexpr std::uint32_t kWindow = 256;  // probes

  /// The number of the probe that leaves now.
  std::uint32_t on_sent(Time now);
  Arrival on_reply(std::uint32_t sequence, Time arrived);
  /// Gives up what has been away too long.
  void advance(Time now, Duration timeout);
  /// What to call it. `usual_loss`: what the way is known to lose anyway, by those that share it.
  void judge(const Settings& settings, double usual_loss);

  Condition condition() const { return condition_; }
  std::uint32_t run() const { return run_; }            // lost in a row, up to now
  std::uint32_t good_run() const { return good_run_; }  // answered in a row
  Time answered_at() const { return answered_at_; }     // when the newest answered probe left; zero: none did
  Time lost_since() const { return lost_since_; }       // when the first of the present losses left
  std::uint32_t window() const { return answered_ + lost_; }
  std::uint32_t lost() const { return lost_; }  // in the window
  std::uint32_t loss_events() const;            // in the window, those in a row counted once
  double loss() const { return window() == 0 ? 0 : double(lost_) / window(); }
  Fates fates() const { return {answered_, lost_}; }  // in the window,
  Fates fates_before() const;                         // and before the present losses
  Duration rtt() const { return rtt_; }               // smoothed
  Duration rtt_min() const;                           // of the last one to two windows; 0: none yet
  std::uint64_t sent_total() const { return next_; }
  std::uint64_t lost_total() const { return lost_total_; }
  std::uint64_t late_total() const { return late_total_; }

 private:
  enum class Fate : std::uint8_t { none, pending, answered, lost };
  struct Entry {
    Time sent;
    std::uint32_t sequence = 0;
    Fate fate = Fate::none;
  };
  Entry& at(std::uint32_t sequence) { return entries_[sequence % kWindow]; }
  void forget(Entry& e);
  void note_rtt(Duration rtt);
  bool too_long(const Settings& settings, double usual_loss) const;
  Fates recent(std::uint32_t back, std::uint32_t count) const;
  void restart();

  std::array<Entry, kWindow> entries_{};
  std::uint32_t next_ = 0;            // number of the next probe
  std::uint32_t oldest_pending_ = 0;  // all before it are decided
  std::uint32_t answered_ = 0, lost_ = 0, run_ = 0, good_run_ = 0, answers_since_dead_ = 0;
  std::uint64_t lost_total_ = 0, late_total_ = 0;
  Time answered_at_{}, lost_since_{};
  Duration rtt_{0}, rtt_min_{0}, rtt_min_before_{0};  // the least of this window and of the one before
  Condition condition_ = Condition::unknown;
};

}  // namespace mrc::map
