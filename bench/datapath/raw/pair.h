// Two processes, one in each namespace of a sandbox, and the memory in which they meet.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "port/testing.h"

namespace mrc::bench {

inline constexpr std::uint32_t kMaxSamples = 1 << 17;

/// What both processes see. Plain numbers are written by one process and read after both have ended.
struct Meeting {
  std::atomic<int> receiver_ready{0};
  std::atomic<int> stop{0};
  std::uint64_t packets = 0;  // received inside the measured time
  std::uint64_t bytes = 0;
  std::uint64_t nanoseconds = 0;  // of the measured time
  std::uint64_t packets_sent = 0;
  std::uint64_t sender_cpu_ns = 0;
  std::uint32_t samples = 0;
  std::uint32_t half_rtt_ns[kMaxSamples];
};

/// Runs both and waits for them; false when one of them failed (it has said why on stderr) or hung.
bool run_pair(const port::testing::Sandbox& sandbox, Meeting& meeting, double limit_seconds,
              const std::function<bool(Meeting&)>& sender, const std::function<bool(Meeting&)>& receiver);

/// Fresh shared memory for one run.
class SharedMeeting {
 public:
  SharedMeeting();
  ~SharedMeeting();
  Meeting& operator*() { return *meeting_; }
  Meeting* operator->() { return meeting_; }

 private:
  Meeting* meeting_;
};

std::uint64_t now_ns();
std::uint64_t cpu_ns();  // of this process
void await(const std::atomic<int>& flag);

}  // namespace mrc::bench
