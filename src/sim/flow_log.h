// What became of each message: the sender's half and the receiver's half, joined at the end.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/ps.h"
#include "sim/workload.h"

namespace mrc::sim {

/// Written by the sender. Messages of a pair of hosts are counted by `sequence`, so the receiver need not be
/// told a name.
struct SentRecord {
  Host destination = 0;
  std::uint32_t sequence = 0;
  std::uint32_t flow = 0;
  std::uint32_t tag = 0;
  std::uint64_t bytes = 0;
  Ps start = 0;
  Ps acknowledged = kNeverPs;
  bool failed = false;
};

struct ReceivedRecord {
  Host source = 0;
  std::uint32_t sequence = 0;
  Ps when = 0;
};

struct HostLog {
  std::vector<SentRecord> sent;
  std::vector<ReceivedRecord> received;
};

/// What one QP sent.
struct QpCount {
  std::uint32_t packets = 0;
  std::uint32_t losses = 0;  // inferred or timed out, not trimmed
  std::uint32_t repairs = 0;
  std::uint32_t repeats = 0;  // of those: what was only late
};

/// One message, from its request to the last byte in the receiver's memory and to the acknowledgement.
struct Flow {
  Host source = 0;
  Host destination = 0;
  std::uint32_t flow = 0;
  std::uint32_t tag = 0;
  std::uint64_t bytes = 0;
  Ps start = 0;
  Ps received = kNeverPs;
  Ps acknowledged = kNeverPs;
  bool failed = false;
};

}  // namespace mrc::sim
