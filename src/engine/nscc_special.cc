// What interrupts NSCC's quadrants: quick adapt, trims, losses, the receiver's penalty, pacing below one MTU.
#include <algorithm>

#include "engine/nscc.h"

namespace mrc::engine {

namespace {
// From one MTU on the window limits the rate; gaps only spread the packets, over a little less than the RTT.
constexpr double kSpread = 0.8;
}  // namespace

void Nscc::begin_qa_period(Time now) {
  achieved_ = 0;
  qa_end_ = now + Duration(base_rtt_ + config_.target_delay);
}

// MRC-CC-012: at most once per base_rtt + target: when little was achieved in that time, it becomes the
// window.
bool Nscc::quick_adapt(Time now, bool trigger) {
  if (config_.disable_qa || now < qa_end_) return false;
  const bool adapt =
      trigger && static_cast<double>(achieved_) < max_cwnd_ / (1u << config_.qa_gate) && cwnd_ > config_.mtu;
  if (adapt) {
    set_window(std::max(static_cast<double>(achieved_), static_cast<double>(config_.mtu)));
    increase_ = 0;
    to_ignore_ = static_cast<std::uint64_t>(std::max<std::int64_t>(in_flight_, 0));
  }
  begin_qa_period(now);
  return adapt;
}

/// Were these bytes sent before the last quick adapt? It has judged them already.
bool Nscc::covered(std::uint64_t bytes) {
  const bool yes = to_ignore_ > 0;
  to_ignore_ -= std::min(to_ignore_, bytes);
  return yes;
}

// MRC-CC-013: a trimmed packet leaves flight; quick adapt, else the window shrinks by its size.
void Nscc::on_trim(Time now, std::uint32_t bytes, bool last_hop) {
  if (config_.incast_mode) {
    incast_ = incast_ || last_hop;
    if (incast_) return keep_survivors(now, bytes);
    // Window that was never filled is no evidence that it fits; a start would only repeat the storm with it.
    set_window(std::min(cwnd_, static_cast<double>(std::max<std::int64_t>(in_flight_, bytes))));
  }
  in_flight_ -= bytes;
  if (covered(bytes) && config_.qa_covers_flight) return;
  if (quick_adapt(now, true)) return;
  give_up(now, bytes);
}

// MRC-CC-014: an inferred loss leaves flight and shrinks the window by its size, without quick adapt.
void Nscc::on_loss(Time now, std::uint32_t bytes) {
  in_flight_ -= bytes;
  const bool judged = covered(bytes);
  // MRC-CC-028: it left with a flight that was judged, and the window has paid for that flight.
  if (judged && config_.qa_covers_flight) return;
  // Where switches drop instead of trimming, a loss is what a trim would have been.
  if (config_.qa_on_loss && quick_adapt(now, true)) return;
  give_up(now, bytes);
}

/// A small window is not given up as a whole: a part of it leaves something to learn from.
void Nscc::give_up(Time now, std::uint32_t bytes) {
  const bool paced = cwnd_ < config_.mtu;
  set_window(std::max(cwnd_ - bytes, cwnd_ * (paced ? static_cast<double>(config_.paced_backoff) : 0.5)));
  if (!paced && cwnd_ < config_.mtu) note_paced_send(now);
}

// MRC-CC-016: a penalty shrinks the window in proportion to it and to what arrived, and nothing grows
// meanwhile. The flight is taken before this report: after it, any penalty at all would close the window
// within one RTT.
void Nscc::penalise(std::int64_t flight_before, std::uint64_t newly, std::uint8_t penalty) {
  if (remembered_ == 0) remembered_ = cwnd_;
  const double used = static_cast<double>(std::max<std::int64_t>(flight_before, 0) + config_.mtu);
  const double cut = static_cast<double>(penalty * newly >> 7);
  set_window(std::max(std::min(cwnd_, used) - cut, std::min(cwnd_, static_cast<double>(config_.mtu))));
  increase_ = 0;
  near_zero_ = 0;
}

// MRC-CC-017: restore_cwnd puts the window of before the penalty back.
// MRC-CC-030: in an incast it says that all that is still to come fits the receiver's port, so what is left
// of it here may leave at once. That is lent: the next message has the window of before.
void Nscc::restore(std::uint64_t rest) {
  if (incast_) lent_ = std::max(lent_, rest);  // another QP of this destination may have the greater part
  if (remembered_ == 0) return;
  set_window(std::max(cwnd_, remembered_));
  remembered_ = 0;
}

void Nscc::on_settled(Time, std::int64_t bytes) { in_flight_ -= bytes; }

/// Windows below this are spaced out: one MTU, and more in an incast, where senders that burst in step see
/// different parts of the queue for ever, and never agree.
double Nscc::paced_below() const {
  if (!config_.pace_below_mtu) return 0;
  return incast_ ? static_cast<double>(config_.mtu) * config_.incast_paced : config_.mtu;
}

// MRC-CC-018: a share below one MTU is one packet per RTT * MTU / share. The gap is drawn between half and
// one and a half of that, because senders of an incast that were trimmed together would otherwise return
// together.
Time Nscc::next_send() const {
  if (lent_ > 0 || cwnd_ >= paced_below() || last_send_ == Time::min()) return Time::min();
  const double rtt = static_cast<double>(base_rtt_) + avg_delay_;
  double gap = rtt * config_.mtu / cwnd_ * static_cast<double>(dither_);
  if (cwnd_ >= config_.mtu) gap *= kSpread;
  return last_send_ + Duration(static_cast<std::int64_t>(gap));
}

void Nscc::note_paced_send(Time now) {
  last_send_ = now;
  dither_ = 0.5f + static_cast<float>(random() >> 8) * 0x1p-24f;
}

/// A linear congruential step: enough to spread senders, and the same everywhere.
std::uint32_t Nscc::random() {
  random_ = random_ * 1664525u + 1013904223u;
  return random_;
}

}  // namespace mrc::engine
