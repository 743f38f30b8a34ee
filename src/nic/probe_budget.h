// How many probes the QPs of a NIC may send: so many at once, one more for each that is answered, and one
// more per interval whatever happens.
//
// Overdue is what an overloaded host's packets are, all of them; a question about each doubles its load, and
// makes the answers later still. Answers pay for the next questions, so asking keeps pace with what the hosts
// can do; the interval keeps it going when nobody answers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"
#include "nic/settings.h"

namespace mrc::nic {

class ProbeBudget {
 public:
  explicit ProbeBudget(const ProbeSettings& settings) : settings_(settings), left_(settings.at_once) {}

  bool limited() const { return settings_.at_once > 0; }
  /// How many may leave now.
  std::uint32_t left(Time now) {
    refill(now);
    return left_;
  }
  bool allows(Time now) { return !limited() || left(now) > 0; }
  void note_sent(Time now) {
    if (allows(now) && limited()) --left_;
  }
  void note_answered() { left_ = std::min<std::uint32_t>(left_ + 1, settings_.at_once); }
  /// When there is one more, at the latest.
  Time next() const { return filled_ + settings_.interval; }

 private:
  void refill(Time now) {
    if (left_ >= settings_.at_once) filled_ = now;
    if (now < next()) return;
    const auto more = (now - filled_) / settings_.interval;
    filled_ += more * settings_.interval;
    left_ = static_cast<std::uint32_t>(std::min<std::int64_t>(left_ + more, settings_.at_once));
  }

  ProbeSettings settings_;
  std::uint32_t left_;
  Time filled_{};  // up to when the interval's share was given
};

}  // namespace mrc::nic
