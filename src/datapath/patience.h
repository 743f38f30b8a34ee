// When timers may run: a host that stood still has heard nobody, so before it takes silence for an answer it
// listens again.
#pragma once

#include <algorithm>

#include "base/time.h"

namespace mrc::datapath {

struct PatienceSettings {
  // A turn later than this was kept from running: by other work, or with the whole machine.
  Duration stood_still = 1ms;
  // For so long it takes what has come, and what a peer says now that stood still as well.
  Duration listen = 1ms;
};

/// Asked once per turn. Timers of a host that is late every time run every second time.
class Patience {
 public:
  explicit Patience(const PatienceSettings& settings) : settings_(settings) {}

  /// Whether timers that were due at `due` may run at `now`.
  bool is_over(Time now, Time due) {
    const Time expected = std::max(due, turned_);
    turned_ = now;
    if (due > now) return false;
    if (!listening_ && now - expected > settings_.stood_still) {
      listening_ = true;
      until_ = now + settings_.listen;
    }
    if (listening_ && now < until_) return false;
    listening_ = false;
    return true;
  }
  /// When timers that are due at `due` will run.
  Time until(Time due) const { return listening_ ? std::max(due, until_) : due; }

 private:
  PatienceSettings settings_;
  Time turned_ = Time::min();  // the last turn
  Time until_{};
  bool listening_ = false;
};

}  // namespace mrc::datapath
