// How much of its time a thread has waited for a core: who waits long answers late, and its peers can't tell
// that from a path that is dead.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace mrc::collective {

/// The second number of /proc/thread-self/schedstat: ns in which the thread could have run, and did not.
std::optional<std::uint64_t> waited_ns(const std::string& schedstat);

class CoreWait {
 public:
  CoreWait();
  /// Since it was made; 0 where the kernel does not say.
  double share() const;
  /// Who waits so much of its time is late for everybody.
  bool is_late() const { return share() > 0.25; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point began_ = Clock::now();
  std::uint64_t waited_ = 0;
};

}  // namespace mrc::collective
