// When a port is read: what comes in long messages may gather for a moment.
//
// A reader that takes each message as it comes and the sender that brings the next one are at the socket's
// queue, its lock and its accounts at the same time, and the sender is the one who pays. Three messages at a
// time cost it a tenth less. So while the NIC knows that much is still to come, little is left to wait for
// more. It is a bet: one that brought little is not made again for a while, and twice as long the next time,
// so that links slower than the cores do without.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"
#include "port/port.h"

namespace mrc::datapath {

struct GatherSettings {
  std::uint64_t bytes = 96 * 1024;  // what a read should bring; 0: nothing waits
  Duration most = 30us;             // what has come waits no longer
  std::uint32_t pause = 16;         // reads without a bet after a lost one, doubled each time
  std::uint32_t pause_max = 1 << 14;
};

/// For one port, asked before each read.
class Gather {
 public:
  explicit Gather(const GatherSettings& settings) : settings_(settings), next_(settings.pause) {}

  /// Whether the port is left alone for now. `expected`: bytes that the NIC knows of and has not seen yet.
  bool may_wait(Time now, port::Port& port, std::uint64_t expected) {
    if (settings_.bytes == 0 || expected < settings_.bytes) return end(false);
    const std::uint64_t waiting = port.waiting_bytes().value_or(0);
    if (first_ != 0 && waiting >= settings_.bytes) next_ = settings_.pause;
    if (waiting == 0 || waiting >= settings_.bytes) return end(false);
    if (first_ == 0 && pause_ > 0) return --pause_, false;
    if (first_ == 0) first_ = waiting, until_ = now + settings_.most;
    return now < until_ || end(waiting - first_ < settings_.bytes / 4);
  }

 private:
  bool end(bool lost) {
    if (lost) {
      pause_ = next_;
      next_ = std::min(next_ * 2, settings_.pause_max);
    }
    first_ = 0;
    return false;
  }

  GatherSettings settings_;
  std::uint64_t first_ = 0;  // bytes that waited when the bet was made; 0: none is open
  Time until_{};
  std::uint32_t pause_ = 0;
  std::uint32_t next_;
};

}  // namespace mrc::datapath
