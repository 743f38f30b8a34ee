// NSCC in the steady state: counting the flight, the four quadrants, and applying what they ask for.
#include "engine/nscc.h"

#include <algorithm>

namespace mrc::engine {

namespace {
constexpr std::uint32_t kLongestBase = 100'000'000;  // ns: what takes longer is an outage, not a round trip
}  // namespace

// Doubles are deterministic here because the build forbids contraction (src/engine/CMakeLists.txt): + - * /
// of IEEE round the same on every compiler, a fused multiply-add does not.

Nscc::Nscc(const NsccConfig& config, const CongestionHints& hints, std::uint32_t seed)
    : config_(config),
      cwnd_(std::max(config.max_cwnd, config.mtu)),
      max_cwnd_(cwnd_),
      base_rtt_(config.base_rtt),
      random_(seed * 2654435761u | 1u) {
  on_hints(hints);
}

// MRC-CC-015: a hint of N senders starts each with its share: together they fill the receiver's port once.
void Nscc::on_hints(const CongestionHints& hints) {
  if (hints.remote_recv_peers <= 1) return;
  set_window(std::min(cwnd_, max_cwnd_ / hints.remote_recv_peers));
  incast_ = config_.incast_mode;
}

void Nscc::on_send(Time now, std::uint32_t bytes) {
  if (in_flight_ <= 0 && now >= qa_end_) begin_qa_period(now);
  in_flight_ += bytes;
  lent_ -= std::min<std::uint64_t>(lent_, bytes);
  if (cwnd_ < paced_below()) note_paced_send(now);
}

// MRC-CC-002: bytes that the peer reports leave flight; delay is what the round trip took beyond the base.
void Nscc::on_sack(Time now, const Feedback& f) {
  // More than was ever in flight can't have arrived: a lying peer's window grows by no more than one maximum.
  const std::int64_t before = in_flight_;
  const auto most = static_cast<std::uint64_t>(std::max<std::int64_t>(before, 0)) + max_window();
  const std::uint64_t newly = std::min(f.newly, most);
  in_flight_ = before - static_cast<std::int64_t>(f.newly);
  achieved_ += newly;
  if (f.rtt && f.rtt->count() > 0 && (f.rtt_certain || is_plausible(*f.rtt)))
    note_rtt(f.rtt_certain ? *f.rtt : std::max(*f.rtt, Duration(base_rtt_)), newly);
  if (config_.learn_queue != 0 && learnt_) follow_rate(now, before, newly);
  if (in_flight_ <= 0) lent_ = 0;
  if (f.restore) restore(f.rest);
  if (f.penalty > 0) return penalise(before, newly, f.penalty);

  const bool past_flight = covered(newly);
  if (incast_) return share_receiver(now, before, newly, past_flight);
  if (quick_adapt(now, config_.qa_threshold != 0 && delay_ > config_.qa_threshold)) return;
  react(now, newly, f.ecn && !past_flight);
  apply_increase(now, newly);
}

// MRC-CC-009: base_rtt only falls, and the maximum window falls with it.
void Nscc::lower_base(std::int64_t rtt) {
  if (rtt >= base_rtt_) return;
  max_cwnd_ = std::max(max_cwnd_ * static_cast<double>(rtt) / static_cast<double>(base_rtt_),
                       static_cast<double>(config_.mtu));
  base_rtt_ = rtt;
  set_window(cwnd_);
}

// MRC-CC-026: a header that overtook all data tells the base, which a sender that never met an empty port
// would not learn: it would take its queueing delay for distance, and more than its share.
void Nscc::on_unqueued(Duration rtt) {
  if (!config_.learn_base_rtt && rtt.count() > 0) lower_base(rtt.count());
}

// MRC-CC-023: the lowest round trip measured is the base, and target and periods follow it.
/// The round trip of a software host is what its cores make it: a target made for a NIC's would be missed by
/// every packet, and a period made for it would take each mark of one flight for a new one. The maximum
/// window follows the rate, if it is learnt too (nscc_rate.cc), or stays.
void Nscc::learn_base(std::int64_t rtt) {
  const auto base = std::clamp<std::int64_t>(rtt, config_.base_rtt, std::max(kLongestBase, config_.base_rtt));
  if (learnt_ && base >= base_rtt_) return;
  const double scale = static_cast<double>(base) / static_cast<double>(base_rtt_);
  for (std::uint32_t* t : {&config_.target_delay, &config_.adjust_period_threshold, &config_.qa_threshold,
                           &config_.fast_delay}) {
    if (*t != 0) *t = static_cast<std::uint32_t>(std::clamp(*t * scale, 1.0, 4e9));
  }
  base_rtt_ = base;
  learnt_ = true;
}

/// A timestamp alone may have wrapped, and so be too low: it must not become the base. Where the base is
/// known it still says that nothing queues; in an incast most samples are of repaired packets, and without
/// them a sender would never hear that the port is idle.
bool Nscc::is_plausible(Duration rtt) const {
  return !config_.learn_base_rtt || (learnt_ && rtt.count() >= base_rtt_);
}

void Nscc::note_rtt(Duration rtt, std::uint64_t newly) {
  config_.learn_base_rtt ? learn_base(rtt.count()) : lower_base(rtt.count());
  delay_ = std::max<std::int64_t>(rtt.count() - base_rtt_, 0);
  const double n = static_cast<double>(newly);
  avg_delay_ += (static_cast<double>(delay_) - avg_delay_) * n / (n + std::max(cwnd_, n));
}

void Nscc::react(Time now, std::uint64_t newly, bool marked) {
  const bool late = delay_ >= config_.target_delay;
  if (!late && !marked) return increase_proportionally(newly);
  near_zero_ = 0;
  // MRC-CC-004: no mark but late: the queue is on its way down, everybody gets the same increase.
  if (late && !marked) increase_ += config_.fi * static_cast<double>(newly);
  if (late && marked) decrease(now);
  // MRC-CC-006: a mark without delay is one bad path: the EV skips, the window stays.
}

// MRC-CC-003: below target and unmarked: the further below, the more.
void Nscc::increase_proportionally(std::uint64_t newly) {
  if (increase_fast(newly)) return;
  const double room = 1.0 - static_cast<double>(delay_) / config_.target_delay;
  increase_ += config_.proportional * room * static_cast<double>(newly);
}

// MRC-CC-007: a window of bytes at near-zero delay: nobody else is there, so grow by a part of what arrives.
bool Nscc::increase_fast(std::uint64_t newly) {
  if (delay_ >= config_.fast_delay) {
    near_zero_ = 0;
    return false;
  }
  near_zero_ += newly;
  if (static_cast<double>(near_zero_) <= std::max(cwnd_, static_cast<double>(config_.mtu))) return false;
  set_window(cwnd_ + std::min(static_cast<double>(newly), cwnd_) * config_.fi_scale);
  return true;
}

// MRC-CC-005: marked and late: at most once per base_rtt, in proportion to how late, never below max_md_jump.
void Nscc::decrease(Time now) {
  if (avg_delay_ <= config_.target_delay) return;
  if (last_decrease_ != Time::min() && now - last_decrease_ < Duration(base_rtt_)) return;
  const double factor = 1.0 - config_.gamma * (avg_delay_ - config_.target_delay) / avg_delay_;
  set_window(cwnd_ * std::max(factor, static_cast<double>(config_.max_md_jump)));
  last_decrease_ = now;
}

// MRC-CC-008: the window takes the collected increase after enough bytes or time, and eta after time.
void Nscc::apply_increase(Time now, std::uint64_t newly) {
  unapplied_ += newly;
  const bool period =
      last_applied_ == Time::min() || now - last_applied_ >= Duration(config_.adjust_period_threshold);
  if (!period && unapplied_ < config_.adjust_bytes_threshold) return;
  double grown = cwnd_ + increase_ / cwnd_;
  if (period) {
    grown += config_.eta;
    last_applied_ = now;
  }
  increase_ = 0;
  unapplied_ = 0;
  set_window(grown);
}

// MRC-CC-010: send while the flight and one MTU more fit the window; an empty flight always may.
bool Nscc::may_send(std::uint32_t bytes) const {
  if (in_flight_ <= 0) return true;
  return in_flight_ + std::max(bytes, config_.mtu) <= static_cast<std::int64_t>(window());
}

std::uint64_t Nscc::window() const {
  return static_cast<std::uint64_t>(
      std::max(lent_ > 0 ? max_cwnd_ : cwnd_, static_cast<double>(config_.mtu)));
}

double Nscc::floor() const {
  const double mtu = config_.mtu;
  return config_.pace_below_mtu ? mtu / config_.min_share : mtu * config_.least_window;
}

// MRC-CC-011: floor one MTU (paced beyond that), cap the maximum window.
void Nscc::set_window(double bytes) { cwnd_ = std::clamp(bytes, std::min(floor(), max_cwnd_), max_cwnd_); }

}  // namespace mrc::engine
