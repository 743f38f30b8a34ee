// What a run amounts to, in numbers with units. docs/simulator.md says what each means.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "sim/world.h"

namespace mrc::sim {

/// Of a set of values; all 0 when it is empty.
struct Distribution {
  std::uint64_t count = 0;
  double mean = 0, p50 = 0, p99 = 0, p999 = 0, max = 0, min = 0;
};
Distribution distribution(std::vector<double> values);

/// Jain's index: 1 when all are alike, 1/n when one has everything.
double fairness(const std::vector<double>& values);

/// The part of what its wire could carry until `end`. A frame is counted when its first bit leaves, so the
/// one that is on the wire then could make it more than all.
double use_of(const fabric::Link& link, Ps end);

/// All links of one kind and direction, of one plane or of all.
struct LinkUse {
  std::uint64_t links = 0;
  std::uint64_t packets = 0, bytes = 0, marks = 0, trims = 0, drops = 0, losses = 0;
  double use_mean = 0, use_max = 0;  // of what the wires could have carried in the time of the run
  std::uint32_t depth_max = 0;       // bytes of data that waited at one port
  double depth_mean = 0;             // of each port's own maximum
};

enum class LinkGroup : std::uint8_t { host_up, t0_up, t1_up, t2_down, t1_down, to_host };
inline constexpr std::array<const char*, 6> kLinkGroupNames = {"host_up", "t0_up",   "t1_up",
                                                               "t2_down", "t1_down", "to_host"};

struct Cost {
  double cpu_seconds = 0, wall_seconds = 0;
  std::uint64_t peak_rss_bytes = 0;
};

struct Summary {
  Ps end = 0;  // of the last message
  std::uint64_t flows = 0, failed = 0, unfinished = 0;
  Distribution completion_us;    // request to last byte in the receiver's memory
  Distribution acknowledged_us;  // request to acknowledgement
  Distribution slowdown;         // completion / the same message alone
  double ideal_us_max = 0;       // the slowest message if each were alone
  double max_over_ideal = 0;     // completion_us.max / that
  double bound_us_max = 0;       // the slowest message if all were fluids that share max-min fairly
  double max_over_bound = 0;     // completion_us.max / that
  Distribution slowdown_fair;    // completion / the same message as a fluid among the others
  std::uint64_t payload_bytes = 0;
  double goodput_gbps = 0;   // payload of all hosts over the time to the last message
  double flow_fairness = 1;  // of the flows' own rates
  Tally packets;
  std::uint64_t hops = 0;  // frames that left a NIC or a switch port
  std::uint64_t trims = 0, marks = 0, drops = 0, losses = 0;
  std::uint64_t qps = 0;
  std::uint64_t repeats = 0;    // repairs of what was only late
  Distribution qp_losses;       // per QP that sent: packets that it inferred to be lost, trims not among them
  Distribution qp_repairs;      // and packets that it sent again
  double trims_per_packet = 0;  // useful ones: data packets less repairs
  std::array<LinkUse, 6> by_group;  // LinkGroup
  std::vector<LinkUse> by_plane;
  Cost cost;
};

Summary summarise(World& world, const std::vector<Flow>& flows, const Cost& cost);
void write_json(const Summary& summary, JsonWriter& json);
/// For people: a dozen lines.
std::string text(const Summary& summary);

/// CPU and memory of this process so far.
Cost cost_so_far();

}  // namespace mrc::sim
