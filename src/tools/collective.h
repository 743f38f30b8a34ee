// `mrc collective`: one rank, or all of them on this host.
#pragma once

#include "collective/run.h"
#include "port/steering.h"

namespace mrc::tools {

inline constexpr std::uint32_t kMostRanks = 64;
inline constexpr std::uint32_t kMostRanksHere = port::Steering{}.seats;  // processes that share a UDP port
inline constexpr std::size_t kMostBytes = std::size_t{1} << 30;

struct CollectiveJob {
  collective::Plan plan;
  collective::MeshOptions mesh;
  bool json = false;
  bool all_planes = false;  // one that carries nothing between two ranks is a failure of all
};

/// Runs one rank; rank 0 prints. The exit status: 1 when a value was wrong, or a plane missing that was asked
/// for.
Result<int> collective_rank(CollectiveJob job);
/// A process for each rank; the exit status.
int collective_on_this_host(const CollectiveJob& job);

}  // namespace mrc::tools
