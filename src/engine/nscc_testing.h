// A controller on a link whose defaults are round numbers, and verbs that read as a story.
#pragma once

#include "engine/nscc.h"

namespace mrc::engine::testing {

inline constexpr std::uint32_t kMtu = 4000;

/// 120 Gb/s and 10 us: a BDP of 150 kB, so a = 1; target 7.5 us, maximum window 225 kB.
inline LinkFacts round_link() { return {120'000'000'000, 10us, kMtu, true}; }

/// NSCC as published, without what we added.
inline NsccConfig published(const LinkFacts& link = round_link()) {
  NsccConfig c = default_nscc(link);
  c.incast_mode = c.pace_below_mtu = c.qa_covers_flight = false;
  return c;
}

struct Sender {
  explicit Sender(const NsccConfig& c = published(), const CongestionHints& hints = {}) : cc(c, hints) {}

  void send(int packets = 1) {
    for (int i = 0; i < packets; ++i) cc.on_send(now, kMtu);
  }
  void wait(Duration d) { now += d; }
  /// The peer reports `bytes`; the packet that made it answer took base_rtt + delay.
  void sack(std::uint64_t bytes, Duration delay, bool ecn = false) {
    cc.on_sack(now, {.newly = bytes, .rtt = cc.base_rtt() + delay, .ecn = ecn});
  }
  void penalty(std::uint64_t bytes, std::uint8_t pen) {
    cc.on_sack(now, {.newly = bytes, .rtt = cc.base_rtt(), .penalty = pen});
  }
  /// `rest`: bytes that we have yet to send, and the peer knows of.
  void restore(std::uint64_t rest = 0) {
    cc.on_sack(now, {.newly = 0, .rtt = cc.base_rtt(), .restore = true, .rest = rest});
  }
  void trim(int packets = 1, bool last_hop = false) {
    for (int i = 0; i < packets; ++i) cc.on_trim(now, kMtu, last_hop);
  }
  /// Late and marked often enough to leave `window` or a little less.
  void shrink_to(std::uint64_t window) {
    while (cc.window() > window) {
      wait(10us);
      sack(cc.window(), 30us, true);
    }
  }
  std::uint64_t window() const { return cc.window(); }

  Time now{1ms};
  Nscc cc;
};

}  // namespace mrc::engine::testing
