#include "tools/map_report.h"

#include <algorithm>
#include <cstdio>

#include "base/json.h"

namespace mrc::tools {
namespace {

using map::Count;
using map::Fault;

template <class... A>
void print(std::string& out, const char* format, A... a) {
  char line[256];
  std::snprintf(line, sizeof line, format, a...);
  out += line;
}

double seconds(Duration d) { return std::chrono::duration<double>(d).count(); }
double micros(Duration d) { return static_cast<double>(d.count()) / 1000; }

const char* what_text(map::What w) {
  constexpr const char* kNames[] = {"link", "one way", "switch"};
  return kNames[static_cast<int>(w)];
}
const char* fault_text(Fault f) { return f == Fault::dead ? "dead" : "lossy"; }

double cpu_share(const NodeReport& n, Duration ran) {
  return ran.count() <= 0 ? 0 : seconds(n.cpu) / seconds(ran);
}

/// "p0.t0.0 may be dead", "h0-p0.t0.0 may lose 8.2 %".
std::string doubt(const MapPicture& p, const map::Culprit& c) {
  std::string out = name(p.topo, c);
  if (c.fault == Fault::dead) return out + " may be dead";
  print(out, " may lose %.1f %%", c.loss * 100);
  return out;
}

void add_suspects(const MapPicture& p, std::string& out) {
  constexpr std::size_t kMost = 8;
  const auto suspects = p.survey.suspects();
  for (std::size_t i = 0; i < std::min(suspects.size(), kMost); ++i)
    out += (i == 0 ? "not certain yet: " : ", ") + doubt(p, suspects[i]);
  if (suspects.size() > kMost) print(out, " and %zu more", suspects.size() - kMost);
  if (!suspects.empty()) out += "; give it more --seconds\n";
}

void add_findings(const MapPicture& p, std::string& out) {
  add_suspects(p, out);
  if (p.survey.findings().empty()) {
    if (p.survey.links().empty())
      return print(out, "no probe has had its time yet; give it more --seconds\n");
    return print(out, out.empty() ? "nothing is wrong\n" : "");
  }
  print(out, "%-26s %-8s %-6s %7s %10s %6s\n", "WHAT", "KIND", "FAULT", "LOSS", "SINCE", "TIMES");
  for (const map::Finding& f : p.survey.findings()) {
    print(out, "%-26s %-8s %-6s %6.1f%% %8.2f s %6u\n", name(p.topo, f.culprit).c_str(),
          what_text(f.culprit.what), fault_text(f.culprit.fault), f.culprit.loss * 100,
          seconds(f.since - p.began), f.times);
  }
}

void add_links(const MapPicture& p, bool all, std::string& out) {
  const auto links = p.survey.links();
  print(out, "%zu of %u links are probed\n", links.size(), p.topo.links());
  bool head = false;
  for (const map::LinkReport& l : links) {
    if (!all && l.loss == 0) continue;
    if (!head) print(out, "%-26s %8s %10s %8s\n", "LINK", "LOSS", "RTT", "PROBES");
    head = true;
    print(out, "%-26s %7.2f%% %7.1f us %8u\n", p.topo.name(l.link).c_str(), l.loss * 100, micros(l.rtt),
          l.probes);
  }
}

void add_nodes(const MapPicture& p, std::string& out) {
  print(out, "%-6s %8s %8s %6s %6s %8s %8s %7s\n", "NODE", "SENT", "BACK", "LOST", "LATE", "RELAYED",
        "REFUSED", "CPU");
  for (const NodeReport& n : p.nodes) {
    const auto& c = n.counters;
    print(out, "%-6s %8llu %8llu %6llu %6llu %8llu %8llu %6.2f%%\n",
          p.topo.name(topo::host_node(n.host)).c_str(), static_cast<unsigned long long>(c[Count::sent]),
          static_cast<unsigned long long>(c[Count::answered]), static_cast<unsigned long long>(n.lost),
          static_cast<unsigned long long>(c[Count::late]), static_cast<unsigned long long>(c[Count::relayed]),
          static_cast<unsigned long long>(c[Count::refused] + c[Count::relay_refused]),
          cpu_share(n, p.ran) * 100);
  }
}

void add_culprit(const MapPicture& p, const map::Culprit& c, JsonWriter& json) {
  json.field("what", name(p.topo, c)).field("kind", what_text(c.what)).field("fault", fault_text(c.fault));
  json.field("loss", c.loss);
}

void add_event(const MapPicture& p, const map::Event& e, JsonWriter& json) {
  json.begin_object().field("event", map::to_string(e.kind));
  json.field("at_ns", (e.at - p.began).count()).field("clock_ns", e.at.time_since_epoch().count());
  add_culprit(p, e.culprit, json);
  json.end_object();
}

void add_node(const MapPicture& p, const NodeReport& n, JsonWriter& json) {
  json.begin_object().field("host", p.topo.name(topo::host_node(n.host)));
  for (std::size_t i = 0; i < map::kCounts; ++i)
    json.field(map::to_string(static_cast<Count>(i)), n.counters[static_cast<Count>(i)]);
  json.field("probes_lost", n.lost).field("cpu_ns", n.cpu.count()).field("cpu_share", cpu_share(n, p.ran));
  json.end_object();
}

}  // namespace

std::string event_line(const MapPicture& p, const map::Event& e) {
  std::string out;
  print(out, "%9.3f s  %-8s %s %s", seconds(e.at - p.began), map::to_string(e.kind),
        name(p.topo, e.culprit).c_str(), fault_text(e.culprit.fault));
  if (e.culprit.fault == Fault::lossy) print(out, " %.1f%%", e.culprit.loss * 100);
  return out;
}

std::string event_json(const MapPicture& p, const map::Event& e) {
  JsonWriter json;
  add_event(p, e, json);
  return json.text();
}

std::string map_text(const MapPicture& p, bool all_links) {
  std::string out;
  add_findings(p, out);
  add_links(p, all_links, out);
  add_nodes(p, out);
  return out;
}

std::string map_json(const MapPicture& p) {
  JsonWriter json;
  json.begin_object().field("seconds", seconds(p.ran)).begin_array("findings");
  for (const map::Finding& f : p.survey.findings()) {
    json.begin_object();
    add_culprit(p, f.culprit, json);
    json.field("since_ns", (f.since - p.began).count()).field("times", f.times).end_object();
  }
  json.end_array().begin_array("suspects");
  for (const map::Culprit& c : p.survey.suspects()) {
    json.begin_object();
    add_culprit(p, c, json);
    json.end_object();
  }
  json.end_array().begin_array("links");
  for (const map::LinkReport& l : p.survey.links()) {
    json.begin_object().field("link", p.topo.name(l.link)).field("loss", l.loss);
    json.field("rtt_ns", l.rtt.count()).field("probes", l.probes).end_object();
  }
  json.end_array().begin_array("nodes");
  for (const NodeReport& n : p.nodes) add_node(p, n, json);
  json.end_array().begin_array("history");
  for (const map::Event& e : p.survey.history()) add_event(p, e, json);
  json.end_array().end_object();
  return json.text();
}

}  // namespace mrc::tools
