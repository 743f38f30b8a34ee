// The ideal: messages as fluids that share the fabric max-min fairly, from their starts to their ends.
//
// No packet, no queue, no reaction time: each message gets the largest rate that takes nothing from a slower
// one, at every moment, and spreads over all paths as it likes. So what limits it are its two hosts' ports
// and what all uplinks and downlinks of its switches carry together. No transport is faster on average, and
// none ends the last message of a simultaneous start sooner: but for the way of the last byte, which is added
// after the sharing, while in a fabric near senders use the port before the bytes of far ones are there.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sim/ps.h"
#include "topo/topo.h"

namespace mrc::sim {

class World;
struct Flow;

struct FluidFlow {
  std::uint32_t source = 0, destination = 0;
  double bytes = 0;  // on the wire, headers included
  Ps start = 0;
};

struct FluidResult {
  std::vector<Ps> took;  // by flow, without the way of its last byte; kNeverPs: it has no way at all
  bool exact = true;     // false: the work's limit was reached, and the rest took what they take alone
};

/// `rate(hop)`: bits per second of a link direction, 0 for a dead one. `most_work` bounds the steps.
FluidResult fluid(const topo::Topology& topo, const std::function<double(topo::Hop)>& rate,
                  std::span<const FluidFlow> flows, std::uint64_t most_work = 2'000'000'000);

/// The time from request to last byte in memory that each message of a run would take as a fluid, with links
/// as they are at its end.
FluidResult fluid_of(World& world, const std::vector<Flow>& flows);

}  // namespace mrc::sim
