// A summary for programs (JSON) and for people.
#include <cstdarg>
#include <cstdio>

#include "base/counted.h"
#include "sim/summary.h"

namespace mrc::sim {
namespace {

void write(const Distribution& d, std::string_view name, JsonWriter& json) {
  json.begin_object(name)
      .field("count", d.count)
      .field("mean", d.mean)
      .field("min", d.min)
      .field("p50", d.p50);
  json.field("p99", d.p99).field("p99_9", d.p999).field("max", d.max).end_object();
}

void write(const LinkUse& u, JsonWriter& json) {
  json.field("links", u.links).field("packets", u.packets).field("bytes", u.bytes).field("marks", u.marks);
  json.field("trims", u.trims)
      .field("drops", u.drops)
      .field("losses", u.losses)
      .field("use_mean", u.use_mean);
  json.field("use_max", u.use_max)
      .field("queue_bytes_max", u.depth_max)
      .field("queue_bytes_mean_of_max", u.depth_mean);
}

double per_second(std::uint64_t n, double t) { return t > 0 ? static_cast<double>(n) / t : 0; }

__attribute__((format(printf, 2, 3))) void line(std::string& out, const char* format, ...) {
  char buffer[256];
  va_list args;
  va_start(args, format);
  std::vsnprintf(buffer, sizeof buffer, format, args);
  va_end(args);
  out += buffer;
  out += '\n';
}

}  // namespace

void write_json(const Summary& s, JsonWriter& json) {
  json.field("end_us", microseconds(s.end))
      .field("flows", s.flows)
      .field("failed", s.failed)
      .field("unfinished", s.unfinished);
  write(s.completion_us, "completion_us", json);
  write(s.acknowledged_us, "acknowledged_us", json);
  write(s.slowdown, "slowdown", json);
  json.field("ideal_us_max", s.ideal_us_max).field("max_over_ideal", s.max_over_ideal);
  json.field("bound_us_max", s.bound_us_max).field("max_over_bound", s.max_over_bound);
  write(s.slowdown_fair, "slowdown_fair", json);
  json.field("payload_bytes", s.payload_bytes)
      .field("goodput_gbps", s.goodput_gbps)
      .field("fairness", s.flow_fairness);
  json.field("data_packets", s.packets.data_packets)
      .field("repairs", s.packets.repairs)
      .field("repeats", s.repeats)
      .field("packets", s.packets.packets);
  json.field("hops", s.hops).field("trims", s.trims).field("trims_per_useful_packet", s.trims_per_packet);
  json.field("marks", s.marks).field("drops", s.drops).field("losses", s.losses).field("qps", s.qps);
  json.field("losses_per_qp", per_second(s.losses + s.drops, static_cast<double>(s.qps)));
  json.field("repairs_per_qp", per_second(s.packets.repairs, static_cast<double>(s.qps)));
  write(s.qp_losses, "qp_losses", json);
  write(s.qp_repairs, "qp_repairs", json);
  json.begin_array("links");
  for (std::size_t g = 0; g < s.by_group.size(); ++g) {
    if (s.by_group[g].links == 0) continue;
    json.begin_object().field("kind", kLinkGroupNames[g]);
    write(s.by_group[g], json);
    json.end_object();
  }
  json.end_array().begin_array("planes");
  for (std::size_t p = 0; p < s.by_plane.size(); ++p) {
    json.begin_object().field("plane", p);
    write(s.by_plane[p], json);
    json.end_object();
  }
  json.end_array();
  json.field("cpu_seconds", s.cost.cpu_seconds)
      .field("wall_seconds", s.cost.wall_seconds)
      .field("peak_rss_bytes", s.cost.peak_rss_bytes);
  json.field("data_packets_per_cpu_second", per_second(s.packets.data_packets, s.cost.cpu_seconds));
  json.field("hops_per_cpu_second", per_second(s.hops, s.cost.cpu_seconds));
}

std::string text(const Summary& s) {
  std::string out;
  line(out, "%s, %lu failed, %lu unfinished; the last ended at %.3f us", counted(s.flows, "flow").c_str(),
       s.failed, s.unfinished, microseconds(s.end));
  const Distribution& c = s.completion_us;
  line(out, "completion us   mean %.3f  p50 %.3f  p99 %.3f  p99.9 %.3f  max %.3f", c.mean, c.p50, c.p99,
       c.p999, c.max);
  const Distribution& d = s.slowdown;
  line(out, "slowdown        mean %.4f  p50 %.4f  p99 %.4f  p99.9 %.4f  max %.4f", d.mean, d.p50, d.p99,
       d.p999, d.max);
  line(out, "max / ideal     %.4f (the slowest message alone: %.3f us)", s.max_over_ideal, s.ideal_us_max);
  line(out, "max / bound     %.4f (the slowest as a fluid that shares max-min fairly: %.3f us)",
       s.max_over_bound, s.bound_us_max);
  line(out, "goodput         %.2f Gb/s over all hosts, fairness %.4f", s.goodput_gbps, s.flow_fairness);
  line(out, "packets         %lu data, %lu of them repairs; %lu in all; %s", s.packets.data_packets,
       s.packets.repairs, s.packets.packets, counted(s.hops, "hop").c_str());
  line(out, "fabric          %s (%.4f per useful packet), %s, %s, %s", counted(s.trims, "trim").c_str(),
       s.trims_per_packet, counted(s.marks, "mark").c_str(), counted(s.drops, "drop").c_str(),
       counted(s.losses, "loss").c_str());
  for (std::size_t g = 0; g < s.by_group.size(); ++g) {
    const LinkUse& u = s.by_group[g];
    if (u.links != 0)
      line(out, "  %-9s     use mean %.3f max %.3f, queue max %u bytes", kLinkGroupNames[g], u.use_mean,
           u.use_max, u.depth_max);
  }
  line(out, "cost            %.2f CPU s, %.2f s, %.0f MB; %.0f data packets and %.2f M hops per CPU second",
       s.cost.cpu_seconds, s.cost.wall_seconds, static_cast<double>(s.cost.peak_rss_bytes) / 1e6,
       per_second(s.packets.data_packets, s.cost.cpu_seconds), per_second(s.hops, s.cost.cpu_seconds) / 1e6);
  return out;
}

}  // namespace mrc::sim
