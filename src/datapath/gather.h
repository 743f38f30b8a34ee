// When a port is read: what comes in long messages may gather for a moment.
//
// A reader that takes each message as it comes and the sender that brings the next one are at the socket's
// queue, its lock and its accounts at the same time, and the sender is the one who pays. Three messages at a
// time cost it a tenth less. So while the NIC knows that much is still to come, little is left to wait for
// more. It is a bet: one that brought nothing is not made again for a while.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "port/port.h"

namespace mrc::datapath {

struct GatherSettings {
  std::uint64_t bytes = 96 * 1024;  // what a read should bring; 0: nothing waits
  Duration most = 30us;             // what has come waits no longer
  std::uint32_t pause = 16;         // reads without a bet after a lost one
};

/// For one port, asked before each read.
class Gather {
 public:
  explicit Gather(const GatherSettings& settings) : settings_(settings) {}

  /// Whether the port is left alone for now. `expected`: bytes that the NIC knows of and has not seen yet.
  bool may_wait(Time now, port::Port& port, std::uint64_t expected) {
    if (settings_.bytes == 0 || expected < settings_.bytes) return end(false);
    const std::uint64_t waiting = port.waiting_bytes().value_or(0);
    if (waiting == 0 || waiting >= settings_.bytes) return end(false);
    if (first_ == 0 && pause_ > 0) return --pause_, false;
    if (first_ == 0) first_ = waiting, until_ = now + settings_.most;
    return now < until_ || end(waiting == first_);
  }

 private:
  bool end(bool lost) {
    if (lost) pause_ = settings_.pause;
    first_ = 0;
    return false;
  }

  GatherSettings settings_;
  std::uint64_t first_ = 0;  // bytes that waited when the bet was made; 0: none is open
  Time until_{};
  std::uint32_t pause_ = 0;
};

}  // namespace mrc::datapath
