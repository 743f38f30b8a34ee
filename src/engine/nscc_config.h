// Every parameter of NSCC: the CC profile's fields, under their API names and units, and the choices that the
// profile has no field for.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/time.h"
#include "engine/sizes.h"

namespace mrc::engine {

/// Where the default parameters come from.
struct LinkFacts {
  std::uint64_t bits_per_second = 400'000'000'000;  // of all ports together
  Duration base_rtt = 10us;                         // round trip on an empty fabric
  std::uint32_t mtu = cc_bytes_max(4096);           // a full packet, as counted
  bool trimming = true;                             // switches trim instead of dropping

  constexpr double bdp() const {
    return static_cast<double>(bits_per_second) / 8e9 * static_cast<double>(base_rtt.count());
  }
};

struct NsccConfig {
  // As in struct mrc_ctl_cc_nscc_cfg. Times in ns, windows and increments in bytes.
  bool disable_qa = false;
  std::uint8_t qa_gate = 3;  // quick adapt when less than max_cwnd >> qa_gate was achieved
  /// Ours, here for their size. base_rtt is but a floor, the base is the lowest round trip seen, and target
  /// and periods follow it. For hosts that are software.
  bool learn_base_rtt = false;
  std::uint8_t least_window = 1;  // MTU: the floor where nothing is paced below it
  /// Where base_rtt is learnt: the maximum window follows the rate measured, this much of it (ns) beyond 1.5
  /// BDP; never above max_cwnd. 0: the maximum stays.
  std::uint32_t learn_queue = 0;
  std::uint32_t adjust_bytes_threshold = 0;   // the window takes its increase after so many bytes
  std::uint32_t adjust_period_threshold = 0;  // or after so long
  std::uint32_t base_rtt = 0;                 // falls when a sample is lower
  float eta = 0;                              // added once per period, so that nobody starves
  float fi = 0;                               // fair increase, per window of bytes
  float fi_scale = 0;                         // fast increase, part of the bytes received
  float gamma = 0.8f;                         // strength of the multiplicative decrease
  float max_md_jump = 0.5f;                   // the least factor of one decrease
  std::uint32_t max_cwnd = 0;                 // also the starting window of a QP without hints
  std::uint32_t qa_threshold = 0;             // delay that alone triggers quick adapt; 0: none does
  std::uint32_t target_delay = 0;             // queueing delay to settle at

  // Not in the profile. docs/decisions/0010-nscc.md gives the reason and the figures of each.
  std::uint32_t mtu = cc_bytes_max(4096);  // a full packet, as counted
  float proportional = 0;                  // alpha * target: increase per window of bytes at zero delay
  std::uint32_t fast_delay = 1000;         // delay below this is "near zero" for fast increase
  bool qa_on_loss = false;                 // a loss triggers quick adapt; for fabrics that don't trim
  bool qa_covers_flight = true;            // trims of packets sent before a quick adapt don't shrink it again
  // Sharing a receiver's port (nscc_incast.cc).
  bool pace_below_mtu = true;       // a share below one MTU: one packet at a time, spaced in time,
  bool incast_mode = true;          // a last-hop trim or a hint: share the receiver by delay,
  std::uint16_t min_share = 64;     // down to 1/min_share MTU per RTT
  std::uint16_t incast_paced = 16;  // where windows below so many MTU are spaced out too
  float paced_backoff = 0.8f;       // what a trim leaves of a share below one MTU
  float incast_gain = 0.3f;         // part of the distance to its delay that a window moves per RTT
  float incast_fast = 2.0f;         // growth per RTT while the receiver's port is idle
  float incast_low = 0.2f;          // the delay that a full window settles at, in targets,
  float incast_step = 0.12f;        // how much higher it is for each halving of the window,
  float incast_paced_step = 0.2f;   // the same below one MTU,
  float incast_high = 1.7f;         // and where that ends
};

/// The published defaults for a link.
NsccConfig default_nscc(const LinkFacts& link);

/// A profile from outside: EINVAL and the field at fault, or Done.
Status check_nscc(const NsccConfig& config);

/// Fills what a profile has no field for, from its own fields and the MTU of the QP.
void complete_nscc(NsccConfig& config, std::uint32_t mtu);

}  // namespace mrc::engine
