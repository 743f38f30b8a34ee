// A bulk transfer between two processes over the soft device: writes with immediates, every byte checked on
// arrival, credit returned by a write of the other side. For labs and demonstrations.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "base/result.h"

namespace mrc::tools {

inline constexpr int kMaxPlanes = 8;

struct BulkSettings {
  std::uint32_t message_bytes = 128 * 1024;
  std::uint32_t slots = 32;  // messages in flight
  std::uint32_t window = 0;  // bytes in flight, for ever; 0: the device's congestion control
  /// Queueing that the device's congestion control may cause, where links are the bottleneck and a short
  /// queue means that faults are noticed soon. 0: the device's. MRC_QUEUE_US goes before it.
  std::uint32_t queue_us = 0;
  std::uint32_t slack_us = 0;   // by which an answer may be later than usual; 0: the device's
  std::uint16_t evs = 0;        // of the QP; 0: the device's
  std::uint8_t spray_unit = 8;  // packets in a row on one EV, unless MRC_SPRAY_UNIT says otherwise
  std::uint64_t messages = 0;   // to send; 0: until the watcher has had enough
  std::uint8_t timeout =
      14;                  // of the QP, 1.024 us * 2^t: about 17 ms, for a lab's hosts lack a core at times
  bool rests = false;      // an end that has nothing to do sleeps for a moment: many ends on few cores
  bool real_time = false;  // both ends before all other work of the machine, where they may
};

/// A device as it stands, at some moment of a transfer. Plain bytes: it travels through a pipe.
struct BulkSample {
  std::int64_t when_ns = 0;         // steady clock
  std::int64_t began_ns = 0;        // when the transfer did, on the same clock
  std::int64_t done_ns = 0;         // when the last message so far was completed
  std::uint64_t messages = 0;       // completed here
  std::uint64_t bytes = 0;          // of those
  std::uint64_t corrupt = 0;        // messages whose bytes were not what was sent
  std::uint64_t failed = 0;         // completions with an error
  std::int64_t longest_gap_ns = 0;  // between two completions, since the sample before
  std::int64_t late_ns = 0;  // the longest that either end was kept from its work, since the sample before
  std::uint64_t packets = 0, repairs = 0, probes = 0;
  std::uint64_t lost_by_order = 0, lost_by_silence = 0, lost_by_timeout = 0, retries = 0;
  std::uint64_t duplicates = 0;  // packets that arrived here a second time: repairs that nobody needed
  std::uint64_t refused = 0;     // arrivals that were no packet for us
  std::uint64_t overruns = 0;    // packets that the kernel dropped because we read too slowly
  std::uint32_t planes = 0, spray_unit = 0;
  std::uint32_t ports_up = 0;                    // one bit per plane
  std::array<std::uint64_t, kMaxPlanes> sent{};  // bytes that left by each plane's interface
  std::array<std::uint16_t, kMaxPlanes> evs{}, bad_evs{};
};

/// Told about progress, now and then; false ends the transfer.
using BulkWatcher = std::function<bool(const BulkSample&)>;

/// Both run in a process of their own, with MRC_DEVICES set, and speak through `channel`, a connected socket,
/// before and after. They return when the sender's watcher has had enough, or all messages were posted, and
/// everything sent has arrived.
Result<BulkSample> send_bulk(int channel, const BulkSettings& settings, const BulkWatcher& watch);
Result<BulkSample> receive_bulk(int channel, const BulkSettings& settings);

}  // namespace mrc::tools
