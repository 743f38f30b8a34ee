// The measurements: each takes a plan, runs a pair of processes, and gives numbers.
#pragma once

#include <optional>
#include <string>

#include "port/testing.h"

namespace mrc::bench {

struct StreamPlan {
  std::string via = "socket";    // socket: plain system calls. udp, packet, xdp: through that Port
  unsigned train = 1;            // packets per send; above 1 by UDP_SEGMENT
  unsigned packet_bytes = 4160;  // UDP payload: 4096 of data and MRC's headers
  unsigned paths = 1;            // source ports, used in turn
  double seconds = 1;
  bool v6 = true;
};
struct StreamResult {
  double gbps = 0;  // UDP payload received
  double mpps = 0;
  double sender_ns_per_packet = 0;  // CPU time, the kernel's included: comparable on a busy machine too
  double lost = 0;                  // share of the packets sent that never came
};

struct PingPlan {
  std::string via = "socket";
  unsigned bytes = 8;
  bool blocking = false;
  unsigned rounds = 20000;
  double seconds = 2;  // at most
  bool v6 = true;
};
struct PingResult {
  double half_rtt_us_p50 = 0;
  double half_rtt_us_p99 = 0;
};

/// What a packet costs in CPU time, both ends together: one thread sends a train, takes it in, and goes on.
/// No packet is lost and nobody waits, so the figure is steady on a busy machine too.
struct CostPlan {
  std::string via = "socket";
  unsigned train = 1;
  unsigned packet_bytes = 4160;
  double seconds = 1;
  bool v6 = true;
};

using port::testing::Sandbox;
std::optional<StreamResult> measure_stream(const Sandbox& sandbox, const StreamPlan& plan);
std::optional<PingResult> measure_ping(const Sandbox& sandbox, const PingPlan& plan);

std::optional<double> measure_cost_ns(const Sandbox& sandbox, const CostPlan& plan);

}  // namespace mrc::bench
