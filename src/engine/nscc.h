// NSCC ("uet-1.0-nscc"): the window toward one destination, moved by delay, ECN marks, trims and the
// receiver's word. nscc.cc holds the four quadrants, nscc_special.cc what interrupts them (quick adapt,
// trims, penalty, pacing), nscc_incast.cc what replaces them while the receiver's own port is the bottleneck.
// docs/engine/congestion.md tells the algorithm in a page.
#pragma once

#include "engine/congestion.h"
#include "engine/nscc_config.h"
#include "engine/record_pool.h"

namespace mrc::engine {

class Nscc final : public Congestion {
 public:
  /// REQUIRES: check_nscc(config) is Done. `hints` chooses the starting window; `seed` spreads paced senders.
  explicit Nscc(const NsccConfig& config, const CongestionHints& hints = {}, std::uint32_t seed = 1);

  void on_send(Time now, std::uint32_t bytes) override;
  void on_sack(Time now, const Feedback& feedback) override;
  void on_trim(Time now, std::uint32_t bytes, bool last_hop) override;
  void on_loss(Time now, std::uint32_t bytes) override;
  void on_settled(Time now, std::int64_t bytes) override;
  void on_unqueued(Duration rtt) override;
  void on_hints(const CongestionHints& hints) override;

  bool may_send(std::uint32_t bytes) const override;
  Time next_send() const override;
  std::uint64_t window() const override;
  std::int64_t in_flight() const override { return in_flight_; }

  /// Bytes per RTT that this destination may have: the window, or less than one MTU when paced.
  double share() const { return cwnd_; }
  Duration base_rtt() const { return Duration(base_rtt_); }
  std::uint64_t max_window() const override { return static_cast<std::uint64_t>(max_cwnd_); }

 private:
  // The quadrants.
  void note_rtt(Duration rtt, std::uint64_t newly);
  bool is_plausible(Duration rtt) const;
  void lower_base(std::int64_t rtt);
  void learn_base(std::int64_t rtt);
  void react(Time now, std::uint64_t newly, bool marked);
  void increase_proportionally(std::uint64_t newly);
  bool increase_fast(std::uint64_t newly);
  void decrease(Time now);
  void apply_increase(Time now, std::uint64_t newly);
  // The special cases.
  bool quick_adapt(Time now, bool trigger);
  void begin_qa_period(Time now);
  bool covered(std::uint64_t bytes);
  void give_up(Time now, std::uint32_t bytes);
  void penalise(std::int64_t flight_before, std::uint64_t newly, std::uint8_t penalty);
  void restore(std::uint64_t rest);
  double paced_below() const;
  void note_paced_send(Time now);
  std::uint32_t random();
  // The rate.
  void follow_rate(Time now, std::int64_t flight_before, std::uint64_t newly);
  void note_rate(double bytes_per_ns);
  // Incast.
  void share_receiver(Time now, std::int64_t flight_before, std::uint64_t newly, bool past_flight);
  void keep_survivors(Time now, std::uint32_t bytes);
  void fill_idle_receiver(std::uint64_t newly);
  double incast_target() const;
  double incast_move(double rounds) const;
  // Bounds.
  void set_window(double bytes);
  double floor() const;

  NsccConfig config_;
  float dither_ = 0;  // of the gap after last_send_
  std::int64_t in_flight_ = 0;
  double cwnd_;
  double max_cwnd_;
  double increase_ = 0;          // collected and not yet applied, times cwnd_
  double avg_delay_ = 0;         // ns, over about one window of bytes
  double remembered_ = 0;        // the window before the receiver's penalty; 0: no penalty
  std::uint64_t lent_ = 0;       // bytes that may leave beyond the window, up to the maximum
  std::uint64_t unapplied_ = 0;  // bytes received since the window took its increase
  std::uint64_t near_zero_ = 0;  // bytes received in a row at near-zero delay
  std::uint64_t achieved_ = 0;   // bytes received in this quick-adapt period
  std::uint64_t to_ignore_ = 0;  // bytes sent before the last quick adapt and not yet accounted for
  std::uint32_t delivered_ = 0;  // bytes received since rate_since_
  Ticks rate_since_;
  float best_rate_[2] = {};  // bytes per ns: the highest of these periods, and of as many before
  Time last_applied_ = Time::min();
  Time last_decrease_ = Time::min();
  Time qa_end_ = Time::min();
  Time last_send_ = Time::min();
  std::int64_t base_rtt_;
  std::int64_t delay_ = 0;  // of the latest sample
  std::uint32_t random_;
  bool incast_ = false;     // the bottleneck is the receiver's port, which trims and never marks
  bool learnt_ = false;     // base_rtt_ was measured
  std::uint8_t rates_ = 0;  // periods that best_rate_[0] has seen
};

static_assert(sizeof(Nscc) <= 272, "one controller per destination, and there are many destinations");

}  // namespace mrc::engine
