// NSCC when the receiver's own port is the bottleneck: it trims and never marks, so delay is all that senders
// share.
#include <algorithm>
#include <bit>

#include "engine/nscc.h"

namespace mrc::engine {

namespace {

// A paced sender hears once in many RTTs, and so do all: one sample is not worth more than this many, least
// of all bad news, or they would overreact together.
constexpr double kMostRoundsDown = 1, kMostRoundsUp = 8;

/// log2 without libm, whose last bit depends on the machine: exponent, and the mantissa taken as straight.
double octaves(double ratio) {
  const auto bits = std::bit_cast<std::uint64_t>(ratio);
  const auto exponent = static_cast<std::int64_t>(bits >> 52 & 0x7ff) - 1023;
  const auto mantissa = static_cast<double>(bits & ((std::uint64_t{1} << 52) - 1)) * 0x1p-52;
  return static_cast<double>(exponent) + mantissa;
}

}  // namespace

/// The port is full: whatever of this flight is not trimmed is just what fits, so the window becomes that.
/// The flight is at least what was trimmed: packets that were taken for lost and arrived all the same have
/// left it twice, and a window of nothing would be paced for a hundred round trips.
void Nscc::keep_survivors(Time now, std::uint32_t bytes) {
  const bool same_flight = covered(bytes);
  if (!same_flight) {
    to_ignore_ = static_cast<std::uint64_t>(std::max<std::int64_t>(in_flight_, bytes));
    set_window(std::min(cwnd_, static_cast<double>(to_ignore_)));
    increase_ = 0;
  }
  in_flight_ -= bytes;
  // A window that is smaller than the rest of its flight has had its share of this storm.
  if (!same_flight || cwnd_ > static_cast<double>(in_flight_)) give_up(now, bytes);
}

// MRC-CC-019: in an incast a window moves by a part of its distance from its delay per RTT, whatever its
// size.
void Nscc::share_receiver(Time now, std::int64_t flight_before, std::uint64_t newly, bool past_flight) {
  const double rtt = static_cast<double>(base_rtt_ + delay_);
  const double rounds =
      last_applied_ == Time::min() ? 1.0 : static_cast<double>((now - last_applied_).count()) / rtt;
  last_applied_ = now;
  // A sender that does not use its window learns nothing from a short queue.
  const double flight = static_cast<double>(flight_before);
  const bool used = flight * 2 >= cwnd_ || flight + config_.mtu > cwnd_;
  if (used && delay_ < config_.fast_delay) return fill_idle_receiver(newly);
  const double move = past_flight ? 0.0 : incast_move(rounds);
  if (move < 0 || used) set_window(cwnd_ * (1.0 + move));
}

// MRC-CC-025: at near-zero delay a window grows by what arrived, and by less the nearer the average is to its
// own delay.
/// Near-zero delay: all windows together are below one BDP, and the queue has room for as much again. So
/// growing by incast_fast within an RTT is safe even if every sender does it. But a receiver has a port per
/// plane, and one of them is idle now and then while the others are full. Who has much hears much, and would
/// meet such a moment more often: so not the moment counts, but the bytes that met it, and the average.
void Nscc::fill_idle_receiver(std::uint64_t newly) {
  const double room = 1.0 - avg_delay_ / incast_target();
  if (room <= 0) return;
  const double arrived = std::min(static_cast<double>(newly), cwnd_);
  set_window(cwnd_ + (static_cast<double>(config_.incast_fast) - 1.0) * room * arrived);
  incast_ = cwnd_ < max_cwnd_ / 2;
}

/// A smaller window settles at a higher delay. All senders see one delay, so one window suits it: they end up
/// equal without knowing how many they are.
double Nscc::incast_target() const {
  const double whole = std::max(cwnd_, static_cast<double>(config_.mtu));
  // The profile's maximum, which all senders share, not the one that followed this peer's base_rtt.
  const double full = std::max(static_cast<double>(config_.max_cwnd), whole);
  double targets = config_.incast_low + config_.incast_step * octaves(full / whole);
  // Paced senders hear rarely, so each word must weigh more, or the unlucky would stay behind.
  if (cwnd_ < whole) targets += config_.incast_paced_step * octaves(whole / cwnd_);
  return config_.target_delay * std::min(targets, static_cast<double>(config_.incast_high));
}

/// Windows together are in proportion to base_rtt + delay, so this is the part by which they are wrong.
double Nscc::incast_move(double rounds) const {
  const double delay = (avg_delay_ + static_cast<double>(delay_)) / 2;
  const double distance = (incast_target() - delay) / (static_cast<double>(base_rtt_) + delay);
  return std::clamp(
      config_.incast_gain * distance * std::min(rounds, distance < 0 ? kMostRoundsDown : kMostRoundsUp), -0.5,
      1.0);
}

}  // namespace mrc::engine
