// A snapshot as JSON: the one form that tools outside this project read.
#include "base/json.h"
#include "node/facts.h"

namespace mrc::node {
namespace {

void write(JsonWriter& json, const PortFacts& port) {
  const PortCounters& c = port.counters;
  json.begin_object().field("port", port.port.value).field("interface", port.interface);
  json.field("address", address_text(port.address)).field("admin", port.admin_enabled);
  json.field("link", port.link_up).field("mtu", port.link_mtu);
  json.field("bits_per_second", port.bits_per_second);
  json.field("rx_packets", c.rx_packets).field("rx_bytes", c.rx_bytes);
  json.field("tx_packets", c.tx_packets).field("tx_bytes", c.tx_bytes);
  json.field("tx_discarded", c.tx_discarded).field("rx_overrun", c.rx_overrun);
  json.field("rx_stray", c.rx_stray).end_object();
}

void write(JsonWriter& json, const QpTotals& t) {
  json.begin_object("totals").field("tx_packets", t.tx_packets).field("tx_bytes", t.tx_bytes);
  json.field("repairs", t.repairs)
      .field("repeats", t.repeats)
      .field("timeouts", t.timeouts)
      .field("probes", t.probes);
  json.field("rx_packets", t.rx_packets).field("rx_bytes", t.rx_bytes);
  json.field("duplicates", t.duplicates).field("trims", t.trims).field("marks", t.marks);
  json.field("refused", t.refused).field("failed_qps", t.failed_qps).end_object();
}

void write_paths(JsonWriter& json, const QpFacts& qp) {
  json.begin_object("evs_in_state");
  for (std::uint32_t i = 0; i < qp.evs_in_state.size(); ++i) {
    json.field(name_of(static_cast<EvFactState>(i)), qp.evs_in_state[i]);
  }
  json.end_object().begin_array("evs");
  for (const EvFacts& ev : qp.evs) {
    json.begin_object().field("ev", ev.ev.value).field("port", ev.port.value);
    json.field("state", name_of(ev.state)).end_object();
  }
  json.end_array();
}

void write(JsonWriter& json, const QpFacts& qp) {
  json.begin_object().field("qpn", qp.qpn.value).field("state", name_of(qp.state));
  json.field("peer", address_text(qp.peer)).field("remote_qpn", qp.remote_qpn.value);
  json.field("ev_profile", qp.ev_profile).field("cc_profile", qp.cc_profile);
  json.field("service_level", qp.service_level);
  json.field("tx_packets", qp.tx_packets).field("tx_bytes", qp.tx_bytes);
  json.field("repairs", qp.repairs).field("repeats", qp.repeats).field("probes", qp.probes);
  json.field("lost_by_order", qp.lost_by_order).field("lost_by_silence", qp.lost_by_silence);
  json.field("lost_by_timeout", qp.lost_by_timeout).field("nacked", qp.nacked).field("retries", qp.retries);
  json.field("rtt_ns", qp.rtt_ns).field("window", qp.window).field("in_flight", qp.in_flight);
  json.field("unacked", qp.unacked).field("posted", qp.posted);
  json.field("rx_packets", qp.rx_packets).field("rx_bytes", qp.rx_bytes);
  json.field("duplicates", qp.duplicates).field("trims", qp.trims).field("marks", qp.marks);
  json.field("sacks", qp.sacks).field("nacks", qp.nacks);
  write_paths(json, qp);
  json.end_object();
}

void write(JsonWriter& json, const std::vector<PortFacts>& ports) {
  json.begin_array("ports");
  for (const PortFacts& port : ports) write(json, port);
  json.end_array();
}

void write(JsonWriter& json, const DeviceFacts& device) {
  json.begin_object().field("name", device.name).field("guid", device.guid);
  write(json, device.ports);
  write(json, device.totals);
  json.field("formats", device.formats).field("ev_profiles", device.ev_profiles);
  json.field("cc_profiles", device.cc_profiles).end_object();
}

void write(JsonWriter& json, const ProcessFacts& process) {
  json.begin_object().field("pid", process.pid).field("uid", process.uid);
  json.field("program", process.program).field("device", process.device);
  json.field("first_qpn", process.first_qpn.value).field("last_qpn", process.last_qpn.value);
  json.field("taken_ns", process.taken_ns).field("answered", process.answered);
  json.field("qp_count", process.qp_count);
  write(json, process.totals);
  write(json, process.ports);
  json.begin_array("qps");
  for (const QpFacts& qp : process.qps) write(json, qp);
  json.end_array().end_object();
}

}  // namespace

std::string to_json(const Snapshot& s) {
  JsonWriter json;
  json.begin_object().field("host", s.host).field("version", s.version).field("mrcd_pid", s.mrcd_pid);
  json.field("time_ns", s.time_ns).field("uptime_ns", s.uptime_ns).field("truncated", s.truncated);
  json.begin_array("devices");
  for (const DeviceFacts& device : s.devices) write(json, device);
  json.end_array().begin_array("processes");
  for (const ProcessFacts& process : s.processes) write(json, process);
  json.end_array().end_object();
  return json.text();
}

}  // namespace mrc::node
