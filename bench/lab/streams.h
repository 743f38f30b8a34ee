// A TCP or MPTCP connection between two hosts of a lab, for comparison: how long nothing arrives after a
// fault.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <string>
#include <vector>

#include "lab/lab.h"
#include "topo/topo.h"

namespace mrc::bench {

enum class Protocol { tcp, mptcp };

/// One stream from h0 to h1, as fast as it goes, in processes of its own. MPTCP has a subflow per plane.
class Stream {
 public:
  static Result<Stream> start(lab::Lab& lab, const topo::Topology& topo, Protocol protocol);
  Stream(Stream&& other) noexcept;
  ~Stream();

  std::uint64_t bytes() const { return shared_->bytes; }
  /// The longest time in which nothing arrived, since the last call; one that still lasts counts.
  double take_gap_ms();
  /// Waits until data moves; false when it does not for `seconds`.
  bool wait_for_data(double seconds);

 private:
  struct Shared {
    std::atomic<std::uint64_t> bytes;
    std::atomic<std::int64_t> last_ns, longest_ns;
  };
  Stream() = default;

  Shared* shared_ = nullptr;
  std::vector<pid_t> processes_;
};

/// The T1 by which most bytes leave plane 0's first T0 right now: the path that a stream of one plane is on.
std::uint32_t busiest_uplink(lab::Lab& lab, const topo::Topology& topo);

}  // namespace mrc::bench
