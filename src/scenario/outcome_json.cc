// An outcome as one JSON object: docs/simulator.md says what each field means.
#include "scenario/outcome.h"

namespace mrc::scenario {
namespace {

void write(const sim::Distribution& d, std::string_view name, JsonWriter& json) {
  json.begin_object(name).field("count", d.count).field("mean", d.mean).field("min", d.min);
  json.field("p50", d.p50).field("p99", d.p99).field("p99_9", d.p999).field("max", d.max).end_object();
}

void write(const JobFigures& j, JsonWriter& json) {
  json.begin_object().field("name", j.name).field("flows", j.flows).field("unfinished", j.unfinished);
  json.field("payload_bytes", j.bytes);
  json.field("begin_us", j.flows > j.unfinished ? sim::microseconds(j.first) : 0.0);
  json.field("end_us", sim::microseconds(j.last));
  write(j.completion_us, "completion_us", json);
  json.field("goodput_gbps", j.goodput_gbps).field("of_line_rate", j.of_line_rate);
  json.field("fairness", j.fairness).end_object();
}

void write(const LinkFigures& l, JsonWriter& json) {
  json.begin_object().field("name", l.name).field("use", l.use).field("packets", l.counters.packets);
  json.field("queue_bytes_max", l.counters.max_depth).field("trims", l.counters.trims);
  json.field("marks", l.counters.marks).field("drops", l.counters.drops).field("losses", l.counters.losses);
  json.end_object();
}

void write(const Checked& c, JsonWriter& json) {
  json.begin_object().field("figure", c.wanted.figure);
  if (c.wanted.min) json.field("min", *c.wanted.min);
  if (c.wanted.max) json.field("max", *c.wanted.max);
  if (c.known) json.field("found", c.found);
  json.field("met", c.met).end_object();
}

}  // namespace

std::string to_json(const Scenario& s, const Outcome& o) {
  JsonWriter json;
  json.begin_object().field("scenario", s.name).field("seed", s.world.hosts.seed);
  json.field("simulated_us", sim::microseconds(o.ended)).field("stopped_by_time", o.stopped_by_time);
  sim::write_json(o.summary, json);
  json.field("of_line_rate", o.of_line_rate).field("longest_silence_us", sim::microseconds(o.silence));
  json.begin_array("jobs");
  for (const JobFigures& j : o.jobs) write(j, json);
  json.end_array().begin_array("phases");
  for (const PhaseFigures& p : o.phases) {
    json.begin_object().field("name", p.name).field("goodput_gbps", p.goodput_gbps);
    json.field("of_line_rate", p.of_line_rate).end_object();
  }
  json.end_array().begin_array("busiest_links");
  for (const LinkFigures& l : o.busiest) write(l, json);
  json.end_array().field("passed", o.passed()).field("unfinished_reason", o.unfinished);
  json.begin_array("expectations");
  for (const Checked& c : o.checks) write(c, json);
  return json.end_array().end_object().text();
}

}  // namespace mrc::scenario
