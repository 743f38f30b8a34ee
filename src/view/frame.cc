#include "view/frame.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"

namespace mrc::view {
namespace {

std::string base64(const std::vector<std::uint8_t>& bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto at = [&](std::size_t k) { return i + k < bytes.size() ? std::uint32_t{bytes[i + k]} : 0; };
    const std::uint32_t v = at(0) << 16 | at(1) << 8 | at(2);
    out += kDigits[v >> 18];
    out += kDigits[v >> 12 & 63];
    out += i + 1 < bytes.size() ? kDigits[v >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? kDigits[v & 63] : '=';
  }
  return out;
}

void write_link(JsonWriter& json, std::string_view name, const topo::LinkSpec& link) {
  json.field(name, link.bits_per_second);
}

void write_counts(JsonWriter& json, std::string_view name, const std::vector<HopCount>& counts) {
  json.begin_array(name);
  for (const HopCount& c : counts) json.value(c.hop).value(c.count);
  json.end_array();
}

const char* name_of(HopFault::Kind kind) {
  switch (kind) {
    case HopFault::Kind::down: return "down";
    case HopFault::Kind::black_hole: return "black_hole";
    case HopFault::Kind::loss: return "loss";
    case HopFault::Kind::rate: return "rate";
  }
  return "";
}

void write_faults(JsonWriter& json, const Frame& f) {
  json.begin_array("faults");
  for (const HopFault& fault : f.faults)
    json.begin_array().value(fault.hop).value(name_of(fault.kind)).value(fault.amount).end_array();
  json.end_array().field("more_faults", f.more_faults);
}

/// One letter per slot.
std::string letters(const std::vector<node::EvFacts>& evs) {
  std::string out;
  for (const node::EvFacts& ev : evs) out += "gsbd"[static_cast<std::uint32_t>(ev.state) & 3];
  return out;
}

void write_qp(JsonWriter& json, const QpFrame& qp, const topo::Topology& topo) {
  const node::QpFacts& q = qp.facts;
  json.begin_object()
      .field("host", qp.host)
      .field("peer", qp.peer)
      .field("qpn", q.qpn.value)
      .field("state", node::name_of(q.state))
      .field("rate", std::round(qp.rate))
      .field("window", q.window)
      .field("in_flight", q.in_flight)
      .field("rtt_ns", q.rtt_ns)
      .field("packets", q.tx_packets)
      .field("received", q.rx_packets)
      .field("repairs", q.repairs)
      .field("lost", q.lost_by_order + q.lost_by_silence + q.lost_by_timeout)
      .field("nacked", q.nacked);
  json.begin_array("counts");
  for (const std::uint16_t n : q.evs_in_state) json.value(n);
  json.end_array();
  if (!q.evs.empty()) {
    json.field("evs", letters(q.evs)).begin_array("ways");
    for (const node::EvFacts& ev : q.evs) {
      const auto choice = topo.choice(ev.ev);
      json.value(choice ? choice->plane : topo::plane_of(ev.port));
      // -1: its plane is known, its way through it is not
      json.value(choice ? std::int64_t{choice->uplink0} : -1)
          .value(choice ? std::int64_t{choice->uplink1} : -1);
    }
    json.end_array();
  }
  json.end_object();
}

void write_packets(JsonWriter& json, const std::vector<PacketFrame>& packets) {
  json.begin_array("packets");
  for (const PacketFrame& p : packets) {
    json.begin_object().field("peer", p.peer).field("psn", p.psn).field("repair", p.repair);
    json.begin_array("hops");
    for (std::uint8_t i = 0; i < p.hop_count; ++i) json.value(p.hops[i]);
    json.end_array().end_object();
  }
  json.end_array();
}

void write_totals(JsonWriter& json, const Totals& t) {
  json.begin_object("total")
      .field("goodput", std::round(t.goodput))
      .field("delivered", t.delivered)
      .field("packets", t.packets)
      .field("repairs", t.repairs)
      .field("trims", t.trims)
      .field("marks", t.marks)
      .field("lost", t.lost)
      .end_object();
}

void write_links(JsonWriter& json, const Frame& f) {
  json.field("first", f.first_hop).field("load", base64(f.load));
  if (!f.queue.empty()) json.field("queue", base64(f.queue));
  if (!f.switch_load.empty()) json.field("switches", base64(f.switch_load));
  if (!f.up.load.empty())
    json.begin_object("up")
        .field("first", f.up.first)
        .field("load", base64(f.up.load))
        .field("queue", base64(f.up.queue))
        .end_object();
  if (!f.cells.load.empty())
    json.begin_object("cells")
        .field("columns", f.cells.columns)
        .field("rows", f.cells.rows)
        .field("load", base64(f.cells.load))
        .end_object();
  write_counts(json, "trims", f.trims);
  write_counts(json, "lost", f.lost);
  write_counts(json, "marks", f.marks);
  write_faults(json, f);
}

}  // namespace

std::uint8_t to_level(double part) {
  return static_cast<std::uint8_t>(std::lround(std::clamp(part, 0.0, 1.0) * kFullLoad));
}

std::string to_json(const Fabric& f) {
  JsonWriter json;
  const topo::Spec& s = f.spec;
  json.begin_object()
      .field("format", "openmrc.view.1")
      .field("name", f.name)
      .field("source", f.source)
      .field("actions", f.actions)
      .field("simulated", f.simulated)
      .field("planes", s.planes)
      .field("tiers", s.tiers)
      .field("pods", s.pods)
      .field("t0", s.t0)
      .field("t1", s.t1)
      .field("t2", s.t2)
      .field("hosts_per_t0", s.hosts_per_t0)
      .field("hosts", s.hosts)
      .field("toml", topo::to_toml(s));
  json.begin_array("plane_names");
  for (const std::string& name : f.plane_names) json.value(name);
  json.end_array();
  json.begin_object("rates");
  write_link(json, "host_t0", s.host_link);
  write_link(json, "t0_t1", s.t0_t1);
  write_link(json, "t1_t2", s.t1_t2);
  json.end_object().end_object();
  return json.text();
}

std::string to_json(const Frame& f, const topo::Topology& topo) {
  JsonWriter json;
  json.begin_object()
      .field("n", f.number)
      .field("t", f.time_ns)
      .field("span", f.span_ns)
      .field("done", f.done)
      .field("paused", f.paused)
      .field("pace", f.pace);
  write_totals(json, f.totals);
  json.begin_array("planes");
  for (const double rate : f.plane_rate) json.value(std::round(rate));
  json.end_array();
  write_links(json, f);
  json.begin_array("qps");
  for (const QpFrame& qp : f.qps) write_qp(json, qp, topo);
  json.end_array().field("more_qps", f.more_qps);
  write_packets(json, f.packets);
  json.begin_array("events");
  for (const Happening& h : f.happenings)
    json.begin_object()
        .field("t", h.time_ns)
        .field("kind", h.kind)
        .field("what", h.what)
        .field("target", h.target)
        .end_object();
  json.end_array();
  if (!f.names.empty()) {
    json.begin_array("names");
    for (const HostName& n : f.names) json.begin_array().value(n.host).value(n.name).end_array();
    json.end_array();
  }
  json.end_object();
  return json.text();
}

}  // namespace mrc::view
