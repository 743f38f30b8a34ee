#include "scenario/csv.h"

#include <cstdarg>
#include <cstdio>

namespace mrc::scenario {
namespace {

__attribute__((format(printf, 2, 3))) void add(std::string& out, const char* format, ...) {
  char buffer[512];
  va_list args;
  va_start(args, format);
  std::vsnprintf(buffer, sizeof buffer, format, args);
  va_end(args);
  out += buffer;
}

/// Names are a person's: quoted when they must be.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

void add_time(std::string& out, sim::Ps t) {
  if (t != sim::kNeverPs) add(out, "%.6f", sim::microseconds(t));
  out += ',';
}

double rate(std::uint64_t now, std::uint64_t before, sim::Ps time) {
  return time > 0 ? static_cast<double>(now - before) * 8e-9 / sim::seconds(time) : 0;
}

}  // namespace

std::string flows_csv(const Outcome& o, const sim::Ensemble& load) {
  std::string out = "job,source,destination,flow,tag,bytes,start_us,received_us,acknowledged_us,failed\n";
  for (const sim::Flow& f : o.flows) {
    out += cell(load.members()[sim::Ensemble::member_of(f.tag)].name);
    add(out, ",%u,%u,%u,%u,%lu,", f.source, f.destination, sim::Ensemble::own_part(f.flow),
        sim::Ensemble::own_part(f.tag), f.bytes);
    add_time(out, f.start);
    add_time(out, f.received);
    add_time(out, f.acknowledged);
    out += f.failed ? "1\n" : "0\n";
  }
  return out;
}

std::string series_csv(const Outcome& o) {
  std::string out = "time_us,goodput_gbps,data_packets,repairs,trims,marks,lost";
  if (o.samples.empty()) return out + "\n";
  const std::size_t planes = o.samples[0].plane_bytes.size();
  for (std::size_t p = 0; p < planes; ++p) add(out, ",p%zu_to_hosts_gbps", p);
  for (std::size_t p = 0; p < planes; ++p) {
    for (const char* row : kQueueRowNames) add(out, ",p%zu_%s_queue_bytes", p, row);
  }
  out += '\n';
  for (std::size_t i = 1; i < o.samples.size(); ++i) {
    const Sample &s = o.samples[i], &before = o.samples[i - 1];
    const sim::Ps time = s.when - before.when;
    if (time == 0) continue;
    add(out, "%.6f,%.6g,%lu,%lu,%lu,%lu,%lu", sim::microseconds(s.when),
        rate(s.delivered, before.delivered, time), s.data_packets - before.data_packets,
        s.repairs - before.repairs, s.trims - before.trims, s.marks - before.marks, s.lost - before.lost);
    for (std::size_t p = 0; p < planes; ++p)
      add(out, ",%.6g", rate(s.plane_bytes[p], before.plane_bytes[p], time));
    for (const std::uint32_t depth : s.depth) add(out, ",%u", depth);
    out += '\n';
  }
  return out;
}

std::string links_csv(const Outcome& o) {
  std::string out = "link,use,bytes,packets,control_packets,marks,trims,drops,losses,queue_bytes_max\n";
  for (const LinkFigures& l : o.links) {
    const fabric::LinkCounters& c = l.counters;
    out += l.name;
    add(out, ",%.6g,%lu,%lu,%u,%u,%u,%u,%u,%u\n", l.use, c.bytes, c.packets, c.control_packets, c.marks,
        c.trims, c.drops, c.losses, c.max_depth);
  }
  return out;
}

}  // namespace mrc::scenario
