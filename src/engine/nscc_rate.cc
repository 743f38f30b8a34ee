// The maximum window where nobody knows the link's rate: it follows the rate at which the peer receives.
// Without it, in a fabric that does not mark, the window is its maximum, and all that exceeds the BDP stands
// in queues, where it makes every answer, and so the detection of every failure, late.
#include <algorithm>

#include "engine/nscc.h"

namespace mrc::engine {

namespace {
constexpr std::int64_t kPeriod = 1'000'000;  // ns: hosts that are software work in bursts shorter than that
constexpr int kBasePerPeriod = 4;
constexpr std::int64_t kLongestPeriod = 1'000'000'000;
constexpr std::uint8_t kPeriods = 64;
constexpr double kBdps = 1.5;
constexpr double kLeastMtus = 16;  // bursts of a port that sends several packets at once
}  // namespace

// MRC-CC-024: a sender that does not know its link's rate measures it while it uses its window.
void Nscc::follow_rate(Time now, std::int64_t flight_before, std::uint64_t newly) {
  delivered_ += static_cast<std::uint32_t>(newly);
  const std::int64_t period = rate_since_.age(now).count();
  const bool used = static_cast<double>(flight_before) * 2 >= cwnd_;
  if (used && period >= 0 && period < std::max(kPeriod, kBasePerPeriod * base_rtt_)) return;
  // Who has little to send learns nothing about the link, nor does who was silent.
  if (used && period > 0 && period < kLongestPeriod)
    note_rate(static_cast<double>(delivered_) / static_cast<double>(period));
  rate_since_ = Ticks(now);
  delivered_ = 0;
}

/// The highest of the last one to two times kPeriods, so that a pause does not shut the window.
void Nscc::note_rate(double bytes_per_ns) {
  best_rate_[0] = std::max(best_rate_[0], static_cast<float>(bytes_per_ns));
  const double rate = std::max(best_rate_[0], best_rate_[1]);
  const double room = kBdps * static_cast<double>(base_rtt_) + config_.learn_queue;
  const double most = std::max(config_.max_cwnd, config_.mtu);
  max_cwnd_ = std::clamp(rate * room, std::min(kLeastMtus * config_.mtu, most), most);
  set_window(cwnd_);
  if (++rates_ < kPeriods) return;
  rates_ = 0;
  best_rate_[1] = best_rate_[0];
  best_rate_[0] = 0;
}

}  // namespace mrc::engine
