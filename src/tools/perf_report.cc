// What a measurement says, for people and for programs.
#include <cstdio>

#include "base/counted.h"
#include "base/json.h"
#include "tools/perf.h"

namespace mrc::tools {

double PerfResult::percentile_us(double p) const {
  if (half_rtts.empty()) return 0;
  const auto last = static_cast<double>(half_rtts.size() - 1);
  return static_cast<double>(half_rtts[static_cast<std::size_t>(last * p)]) / 1000;
}

std::string perf_json(const PerfOptions& o, const PerfResult& r) {
  JsonWriter json;
  json.begin_object()
      .field("size", o.size)
      .field("qps", o.qps)
      .field("depth", r.depth)
      .field("seconds", r.elapsed);
  json.field("operation", o.imm ? "write_imm" : "write")
      .field("mtu", r.mtu)
      .field("spray_unit", o.spray_unit);
  json.field("icrc", o.icrc).field("gbps", r.gbps()).field("mops", r.mops());
  if (o.latency) {
    json.begin_object("half_rtt_us").field("p50", r.percentile_us(0.5)).field("p99", r.percentile_us(0.99));
    json.field("p99.9", r.percentile_us(0.999)).field("samples", r.half_rtts.size()).end_object();
  }
  json.field("cpu_percent", r.cpu_percent).field("peer_cpu_percent", r.peer_cpu_percent);
  json.field("packets", r.counters.packets)
      .field("repairs", r.counters.repairs)
      .field("timeouts", r.counters.timeouts);
  json.field("peer_duplicates", r.peer_counters.duplicates).field("peer_refused", r.peer_counters.refused);
  json.field("peer_overrun", r.peer_counters.overrun);
  if (o.verify) json.field("verified_bytes", r.verified);
  return json.end_object().text();
}

std::string perf_table(const PerfOptions& o, const PerfResult& r) {
  char text[1024];
  int n = std::snprintf(text, sizeof text, "%s of %s, %s, depth %u, MTU %u, spray unit %u, iCRC %s\n",
                        o.imm ? "writes with immediate" : "writes", counted(o.size, "byte").c_str(),
                        counted(o.qps, "QP").c_str(), r.depth, r.mtu, o.spray_unit, o.icrc ? "on" : "off");
  const auto rest = [&] { return std::size_t(sizeof text) - static_cast<std::size_t>(n); };
  if (o.latency) {
    n += std::snprintf(text + n, rest(), "%14s %10s %10s %10s\n%14s %10.2f %10.2f %10.2f\n", "half RTT, us",
                       "p50", "p99", "p99.9", "", r.percentile_us(0.5), r.percentile_us(0.99),
                       r.percentile_us(0.999));
  } else {
    n += std::snprintf(text + n, rest(), "%14s %14s\n%14.2f %14.4f\n", "Gb/s", "M writes/s", r.gbps(),
                       r.mops());
  }
  if (o.verify)
    n += std::snprintf(text + n, rest(), "%s compared, all right\n", counted(r.verified, "byte").c_str());
  std::snprintf(text + n, rest(),
                "CPU %.0f %% here, %.0f %% there; %s, %s, %llu dropped by the peer's kernel\n", r.cpu_percent,
                r.peer_cpu_percent, counted(r.counters.packets, "packet").c_str(),
                counted(r.counters.repairs, "repair").c_str(),
                static_cast<unsigned long long>(r.peer_counters.overrun));
  return text;
}

}  // namespace mrc::tools
