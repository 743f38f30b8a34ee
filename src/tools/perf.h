// `mrc perf`: what is measured, and what came out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "lib/device_types.h"

namespace mrc::tools {

inline constexpr double kConnectWait = 30;

struct PerfOptions {
  std::string listen, connect;  // one of the two is set
  std::string service = "18515";
  std::string device;  // as in MRC_DEVICES; empty: the interface of the address
  std::uint64_t size = 65536;
  std::uint32_t depth = 64;        // writes in flight on each QP
  std::uint64_t memory = 1 << 20;  // bytes that writes go round in, whatever their number
  std::uint32_t qps = 1;
  double seconds = 2;
  double wait =
      0;  // seconds for the other end to come; 0: kConnectWait for who connects, for ever for who listens
  std::uint64_t rate = 0;  // bits per second of all QPs; 0: as fast as they go
  std::uint32_t spray_unit = 8;
  std::uint32_t mtu = 4096;
  std::string cc;                                // as in MRC_CC
  std::uint64_t ev_profile = 0, cc_profile = 0;  // of this end's node; 0: the device's own
  int says_it_listens = -1;                      // gets a byte when others may connect
  bool latency = false, imm = false, verify = false, local = false, json = false, quiet = false, icrc = true;
};

struct PerfResult {
  double elapsed = 0;  // seconds of transfer
  std::uint64_t writes = 0, bytes = 0;
  double cpu_percent = 0, peer_cpu_percent = 0;
  std::vector<std::int64_t> half_rtts;  // ns, sorted
  lib::DeviceCounters counters, peer_counters;
  std::uint64_t verified = 0;        // bytes compared
  std::uint32_t mtu = 0, depth = 0;  // as agreed, and as the memory allowed
  std::string lame_planes;           // how all stand, when one carries nothing at the end
  bool was_late = false;             // it had to wait for a core so much that the figures are the machine's

  double gbps() const { return elapsed > 0 ? static_cast<double>(bytes) * 8e-9 / elapsed : 0; }
  double mops() const { return elapsed > 0 ? static_cast<double>(writes) * 1e-6 / elapsed : 0; }
  double percentile_us(double p) const;
};

std::string perf_json(const PerfOptions& options, const PerfResult& result);
std::string perf_table(const PerfOptions& options, const PerfResult& result);

/// The side that listens: serves one measurement. And the side that measures.
Status perf_serve(const PerfOptions& options);
Result<PerfResult> perf_measure(const PerfOptions& options);

}  // namespace mrc::tools
