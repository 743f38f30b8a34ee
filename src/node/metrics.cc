#include "node/metrics.h"

#include "node/metric_tables.h"

namespace mrc::node {
namespace {

std::string port_number(const PortFacts& port) { return std::to_string(port.port.value); }

/// One family per row of the table; `each` gives every thing that has such counters, with its labels.
template <class T>
void counters(Exposition& out, std::span<const Metric<T>> table, const std::string& prefix,
              const auto& each) {
  for (const Metric<T>& metric : table) {
    out.counter(prefix + metric.name, metric.help, metric.unit);
    each([&](Labels labels, const T& of) { out.sample(labels, of.*metric.value); });
  }
}

void each_port(const std::vector<DeviceFacts>& devices, const auto& tell) {
  for (const DeviceFacts& device : devices) {
    for (const PortFacts& port : device.ports) {
      const std::string number = port_number(port);
      const Label labels[] = {{"device", device.name}, {"port", number}, {"interface", port.interface}};
      tell(Labels(labels), port);
    }
  }
}

void port_states(Exposition& out, const std::vector<DeviceFacts>& devices) {
  const auto gauge = [&](const char* name, const char* unit, const char* help, const auto& value) {
    out.gauge(name, help, unit);
    each_port(devices,
              [&](Labels labels, const PortFacts& p) { out.sample(labels, std::uint64_t{value(p)}); });
  };
  gauge("mrc_port_link_up", "", "1 while the interface has a link.", [](auto& p) { return p.link_up; });
  gauge("mrc_port_enabled", "", "0 while the controller has the port disabled.",
        [](auto& p) { return p.admin_enabled; });
  gauge("mrc_port_mtu_bytes", "bytes", "MTU of the interface.", [](auto& p) { return p.link_mtu; });
  gauge("mrc_port_rate_bits_per_second", "", "Rate of the link; 0: unknown.",
        [](auto& p) { return p.bits_per_second; });
}

void ports(Exposition& out, const std::vector<DeviceFacts>& devices) {
  port_states(out, devices);
  counters<PortCounters>(out, kPortCounters, "mrc_port_", [&](const auto& tell) {
    each_port(devices, [&](Labels labels, const PortFacts& p) { tell(labels, p.counters); });
  });
}

void node_itself(Exposition& out, const Snapshot& s) {
  out.info("mrc_node", "The node, and the release of its mrcd.");
  out.sample({{"host", s.host}, {"version", s.version}}, std::uint64_t{1});
  out.gauge("mrc_node_uptime_seconds", "How long mrcd has been running.", "seconds");
  out.sample(Labels{}, static_cast<double>(s.uptime_ns) * 1e-9);
}

void census(Exposition& out, const Snapshot& s) {
  const auto sum = [&](const DeviceFacts& device, const auto& of) {
    std::uint64_t total = 0;
    for (const ProcessFacts& p : s.processes) total += p.device == device.name ? of(p) : 0;
    return total;
  };
  out.gauge("mrc_device_processes", "Processes that use the device.");
  for (const DeviceFacts& d : s.devices) out.sample({{"device", d.name}}, sum(d, [](auto&) { return 1u; }));
  out.gauge("mrc_device_queue_pairs", "QPs of all processes.");
  for (const DeviceFacts& d : s.devices)
    out.sample({{"device", d.name}}, sum(d, [](auto& p) { return p.qp_count; }));
  out.gauge("mrc_device_profiles", "Profiles that controllers have made.");
  for (const DeviceFacts& d : s.devices) {
    out.sample({{"device", d.name}, {"kind", "format"}}, std::uint64_t{d.formats});
    out.sample({{"device", d.name}, {"kind", "ev"}}, std::uint64_t{d.ev_profiles});
    out.sample({{"device", d.name}, {"kind", "cc"}}, std::uint64_t{d.cc_profiles});
  }
}

void each_process(const std::vector<ProcessFacts>& processes, const auto& tell) {
  for (const ProcessFacts& p : processes) {
    const std::string pid = std::to_string(p.pid);
    const Label labels[] = {{"device", p.device}, {"pid", pid}, {"program", p.program}};
    tell(Labels(labels), p);
  }
}

void each_port_of(const ProcessFacts& process, Labels labels, const auto& tell) {
  std::vector<Label> with_port(labels.begin(), labels.end());
  with_port.push_back({});
  for (const PortFacts& port : process.ports) {
    const std::string number = port_number(port);
    with_port.back() = {"port", number};
    tell(Labels(with_port), port.counters);
  }
}

void each_qp(const std::vector<ProcessFacts>& processes, const auto& tell) {
  for (const ProcessFacts& p : processes) {
    const std::string pid = std::to_string(p.pid);
    for (const QpFacts& qp : p.qps) {
      const std::string qpn = std::to_string(qp.qpn.value), peer = address_text(qp.peer);
      const Label labels[] = {{"device", p.device}, {"pid", pid}, {"qpn", qpn}, {"peer", peer}};
      tell(Labels(labels), qp);
    }
  }
}

void qp_states(Exposition& out, const std::vector<ProcessFacts>& processes) {
  const auto gauge = [&](const char* name, const char* unit, const char* help, const auto& value) {
    out.gauge(name, help, unit);
    each_qp(processes, [&](Labels labels, const QpFacts& qp) { out.sample(labels, value(qp)); });
  };
  gauge("mrc_qp_rtt_seconds", "seconds", "Round-trip time, smoothed.",
        [](auto& qp) { return static_cast<double>(qp.rtt_ns) * 1e-9; });
  gauge("mrc_qp_window_bytes", "bytes", "Congestion window of the destination; its QPs share it.",
        [](auto& qp) { return qp.window; });
  gauge("mrc_qp_unacknowledged_packets", "", "Packets in flight.",
        [](auto& qp) { return std::uint64_t{qp.unacked}; });
  gauge("mrc_qp_posted_requests", "", "Work requests not yet completed.",
        [](auto& qp) { return std::uint64_t{qp.posted}; });
}

void qp_paths(Exposition& out, const std::vector<ProcessFacts>& processes) {
  out.gauge("mrc_qp_evs", "EVs of the QP in each state.");
  each_qp(processes, [&](Labels labels, const QpFacts& qp) {
    std::vector<Label> with_state(labels.begin(), labels.end());
    with_state.push_back({});
    for (std::uint32_t i = 0; i < qp.evs_in_state.size(); ++i) {
      with_state.back() = {"state", name_of(static_cast<EvFactState>(i))};
      out.sample(with_state, std::uint64_t{qp.evs_in_state[i]});
    }
  });
}

}  // namespace

// MRC-NODE-008: names and units as documented; a family is told once, with all its samples.
std::string node_metrics(const Snapshot& snapshot, TextForm form) {
  Exposition out(form);
  node_itself(out, snapshot);
  census(out, snapshot);
  counters<QpTotals>(out, kTotals, "mrc_device_", [&](const auto& tell) {
    for (const DeviceFacts& device : snapshot.devices) {
      const Label labels[] = {{"device", device.name}};
      tell(Labels(labels), device.totals);
    }
  });
  ports(out, snapshot.devices);
  return out.end();
}

std::string process_metrics(const std::vector<ProcessFacts>& processes, TextForm form) {
  Exposition out(form);
  out.gauge("mrc_process_queue_pairs", "QPs of the process.");
  each_process(processes,
               [&](Labels labels, const ProcessFacts& p) { out.sample(labels, std::uint64_t{p.qp_count}); });
  counters<QpTotals>(out, kTotals, "mrc_process_", [&](const auto& tell) {
    each_process(processes, [&](Labels labels, const ProcessFacts& p) { tell(labels, p.totals); });
  });
  counters<PortCounters>(out, kPortCounters, "mrc_process_port_", [&](const auto& tell) {
    each_process(processes, [&](Labels labels, const ProcessFacts& p) { each_port_of(p, labels, tell); });
  });
  return out.end();
}

std::string qp_metrics(const std::vector<ProcessFacts>& processes, TextForm form) {
  Exposition out(form);
  qp_states(out, processes);
  qp_paths(out, processes);
  counters<QpFacts>(out, kQpCounters, "mrc_qp_", [&](const auto& tell) { each_qp(processes, tell); });
  return out.end();
}

}  // namespace mrc::node
