// One direction of a link: an egress port's two queues, the wire behind it, and what is wrong with that wire.
//
// Contract. offer() puts a frame into a queue, or says why not; poll() takes the next one to leave, when the
// wire is free. The caller owns all frames: one that offer() refuses is still the caller's, one that poll()
// gives is the caller's again, also when its Fate says that it will not arrive. Times and randomness are
// arguments. No allocation, ever. Settings are shared by all links of a kind and must outlive them. 112
// bytes, so that millions fit.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/prng.h"
#include "fabric/fate.h"
#include "fabric/frame.h"
#include "fabric/time.h"

namespace mrc::fabric {

/// Where the depth is read that decides about a mark. At dequeue a frame reports the queue that it leaves
/// behind, which tells the sender earlier by the time that the frame waited.
enum class MarkAt : std::uint8_t { enqueue, dequeue };

/// How an egress port treats frames. The defaults suit 100 Gb/s and a base RTT of 12 us: the limit is one
/// BDP.
struct LinkSettings {
  std::uint32_t data_limit = 150'000;     // bytes of data that wait
  std::uint32_t control_limit = 150'000;  // bytes of control and trimmed frames that wait
  std::uint32_t ecn_low = 30'000;         // below: no mark. Between: probability grows to ecn_probability
  std::uint32_t ecn_high = 120'000;       // above: every frame
  double ecn_probability = 1.0;           // at ecn_high
  std::uint32_t trim_bytes = 256;
  MarkAt mark_at = MarkAt::dequeue;
  bool ecn = true;  // inside the fabric on
  bool trim = true;
  bool toward_host = false;  // the last hop: never marks, and trims with the TRIMMED_LASTHOP class
  Rate rate;
  PsDuration delay{500'000};  // from the last bit sent to the frame handed over
};

/// A direction's health. A switch knows `down` and drops at once; `black_hole` it does not notice.
enum class LinkState : std::uint8_t { up, down, black_hole };

struct LinkCounters {
  std::uint64_t bytes = 0;  // put on the wire, lost ones too
  std::uint64_t packets = 0;
  std::uint32_t marks = 0;
  std::uint32_t trims = 0;
  std::uint32_t drops = 0;            // refused by the queue or because the link is down
  std::uint32_t losses = 0;           // left, and did not arrive
  std::uint32_t max_depth = 0;        // bytes of data that waited at once
  std::uint32_t control_packets = 0;  // of `packets`: those that went with control
};

class Link {
 public:
  explicit Link(const LinkSettings& settings) : settings_(&settings), rate_(settings.rate) {}

  /// Queues the frame, marked or trimmed if it must be. is_gone(result): it was dropped, and is the caller's.
  Fate offer(Frame& f, Prng& random);

  struct Departure {
    Frame* frame = nullptr;  // none: nothing waits, or the wire is busy
    Fate fate = Fate::passed;
    PsTime arrives{};  // at the other end; meaningful when fate is passed
    explicit operator bool() const { return frame != nullptr; }
  };
  /// The next frame to leave, when the wire is free at `now`; it is then busy until free_at().
  Departure poll(PsTime now, Prng& random);

  bool empty() const { return data_.head == nullptr && control_.head == nullptr; }
  /// Something waits that may leave once the wire is free.
  bool has_work() const { return control_.head != nullptr || (data_.head != nullptr && !paused_); }
  PsTime free_at() const { return free_at_; }
  std::uint32_t data_depth() const { return data_bytes_; }
  std::uint32_t control_depth() const { return control_bytes_; }

  // Faults. Each is a state: set it, and set it back.
  void set_state(LinkState s) { state_ = s; }
  LinkState state() const { return state_; }
  void set_loss(double probability);
  double loss() const { return loss_ * 0x1p-32; }
  void set_rate(Rate r) { rate_ = r; }
  Rate rate() const { return rate_; }
  /// Priority flow control: data waits, control does not. Off in every MRC fabric; for baselines.
  void set_paused(bool paused) { paused_ = paused; }
  bool paused() const { return paused_; }

  const LinkSettings& settings() const { return *settings_; }
  const LinkCounters& counters() const { return counters_; }
  void reset_counters() { counters_ = {}; }
  /// A copy of another's figures, without its frames: what a process knows of a link that another one ran.
  void adopt(const LinkCounters& counters, Rate rate, LinkState state) {
    counters_ = counters;
    rate_ = rate;
    state_ = state;
  }

 private:
  struct Fifo {
    Frame* head = nullptr;
    Frame* tail = nullptr;

    void push(Frame& f) {
      f.next = nullptr;
      (head == nullptr ? head : tail->next) = &f;
      tail = &f;
    }
    Frame* pop() {
      Frame* f = head;
      head = f->next;
      __builtin_prefetch(head);  // it leaves next
      return f;
    }
  };

  Fate offer_control(Frame& f, Fate fate);
  Fate trim(Frame& f);
  void mark(Frame& f, std::uint32_t depth, Prng& random);
  Fate fate_on_wire(Prng& random);

  // The first 64 bytes are what every frame touches.
  Fifo control_, data_;
  std::uint32_t control_bytes_ = 0;
  std::uint32_t data_bytes_ = 0;
  PsTime free_at_{};
  const LinkSettings* settings_;
  Rate rate_;
  std::uint32_t loss_ = 0;  // of 2^32
  LinkCounters counters_;
  LinkState state_ = LinkState::up;
  bool paused_ = false;
};
static_assert(sizeof(Link) <= 112);

inline Fate Link::offer(Frame& f, Prng& random) {
  if (state_ == LinkState::down) [[unlikely]] {
    ++counters_.drops;
    return Fate::link_down;
  }
  if (goes_with_control(f.traffic_class)) return offer_control(f, Fate::passed);
  // MRC-FAB-012: a data frame that finds no room is trimmed if its class allows it, and dropped otherwise.
  if (data_bytes_ + f.bytes > settings_->data_limit) [[unlikely]] {
    if (settings_->trim && is_trimmable(f.traffic_class)) return trim(f);
    ++counters_.drops;
    return Fate::queue_full;
  }
  if (settings_->mark_at == MarkAt::enqueue) mark(f, data_bytes_, random);
  data_.push(f);
  data_bytes_ += f.bytes;
  counters_.max_depth = std::max(counters_.max_depth, data_bytes_);
  return Fate::passed;
}

inline Fate Link::offer_control(Frame& f, Fate fate) {
  if (control_bytes_ + f.bytes > settings_->control_limit) [[unlikely]] {
    ++counters_.drops;
    return Fate::control_full;
  }
  control_.push(f);
  control_bytes_ += f.bytes;
  return fate;
}

inline Link::Departure Link::poll(PsTime now, Prng& random) {
  if (now < free_at_ || !has_work()) return {};
  // MRC-FAB-010: strict priority: no data leaves while control waits.
  const bool control = control_.head != nullptr;
  Frame* f = control ? control_.pop() : data_.pop();
  (control ? control_bytes_ : data_bytes_) -= f->bytes;
  if (state_ == LinkState::down) [[unlikely]] {
    ++counters_.drops;
    return {f, Fate::link_down, now};
  }
  if (!control && settings_->mark_at == MarkAt::dequeue) mark(*f, data_bytes_, random);
  free_at_ = now + rate_.time_for(f->bytes);
  counters_.bytes += f->bytes;
  ++counters_.packets;
  counters_.control_packets += control;
  return {f, fate_on_wire(random), free_at_ + settings_->delay};
}

// MRC-FAB-011: marks inside the fabric only, by depth, per frame, at random between the thresholds.
inline void Link::mark(Frame& f, std::uint32_t depth, Prng& random) {
  const LinkSettings& s = *settings_;
  if (depth <= s.ecn_low || !s.ecn || s.toward_host || f.ecn == wire::Ecn::not_ect || f.ecn == wire::Ecn::ce)
    return;
  if (depth < s.ecn_high) {
    const double along = static_cast<double>(depth - s.ecn_low) / static_cast<double>(s.ecn_high - s.ecn_low);
    if (!random.chance(along * s.ecn_probability)) return;
  }
  f.ecn = wire::Ecn::ce;
  ++counters_.marks;
}

// MRC-FAB-015: faults are states of the direction; only `down` is known to the switch.
inline Fate Link::fate_on_wire(Prng& random) {
  if (state_ == LinkState::up && loss_ == 0) [[likely]]
    return Fate::passed;
  if (state_ == LinkState::up && random.next() >> 32 >= loss_) return Fate::passed;
  ++counters_.losses;
  return state_ == LinkState::black_hole ? Fate::black_hole : Fate::lost;
}

}  // namespace mrc::fabric
