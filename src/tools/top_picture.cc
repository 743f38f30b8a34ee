#include "tools/top_picture.h"

#include <algorithm>
#include <cinttypes>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "tools/ctl_names.h"

namespace mrc::tools {
namespace {

using nlohmann::json;

std::string text_of(const char* format, auto... values) {
  char text[200];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

std::string clock_text(std::uint64_t time_ns) {
  const std::time_t seconds = static_cast<std::time_t>(time_ns / 1'000'000'000);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  char when[16];
  std::strftime(when, sizeof when, "%H:%M:%S ", &local);
  return when;
}

TopQp qp_of(const json& q) {
  TopQp out;
  out.name = text_of("h%u > h%u", q.value("host", 0u), q.value("peer", 0u));
  out.rate = q.value("rate", 0.0);
  out.rtt_us = q.value("rtt_ns", 0.0) / 1e3;
  out.window_kb = q.value("window", 0.0) / 1e3;
  out.repairs = q.value("repairs", std::uint64_t{0});
  out.lost = q.value("lost", std::uint64_t{0});
  const json counts = q.value("counts", json::array()), ways = q.value("ways", json::array());
  for (std::size_t i = 0; i < counts.size() && i < out.counts.size(); ++i)
    out.counts[i] = counts[i].get<std::uint32_t>();
  const std::string evs = q.value("evs", std::string());
  for (std::size_t i = 0; i < evs.size() && 3 * i < ways.size(); ++i)
    out.evs.emplace_back(ways[3 * i].get<std::uint32_t>(), evs[i]);
  return out;
}

}  // namespace

void add_event(TopPicture& p, std::string event) {
  p.events.push_back(std::move(event));
  if (p.events.size() > kTopEvents) p.events.pop_front();
}

namespace {

/// Of a simulation or of a lab: both shall be read without counting digits.
std::string time_text(double ns) {
  if (ns < 1e8) return text_of("%.1f us", ns / 1e3);
  return text_of("%.2f s", ns / 1e9);
}

}  // namespace

Status TopFrames::take(const std::string& text, TopPicture& p) {
  const json f = json::parse(text, nullptr, false);
  if (!f.is_object()) return Error{EINVAL, "this is no frame"};
  try {
    over_ = f.value("done", false);
    const json& total = f.at("total");
    p.summary = {text_of("time %s   goodput %.2f Gb/s   repairs %" PRIu64 "   trims %" PRIu64
                         "   lost %" PRIu64 "   broken directions %zu",
                         time_text(f.at("t").get<double>()).c_str(), total.at("goodput").get<double>() / 1e9,
                         total.at("repairs").get<std::uint64_t>(), total.at("trims").get<std::uint64_t>(),
                         total.at("lost").get<std::uint64_t>(),
                         f.at("faults").size() + f.at("more_faults").get<std::size_t>())};
    p.lanes.clear();
    for (const json& rate : f.at("planes")) {
      const auto plane = static_cast<std::uint32_t>(p.lanes.size());
      double& most = most_[plane];
      most = std::max(most, rate.get<double>());
      p.lanes.push_back({text_of("plane %u", plane), "", rate.get<double>(), most, true});
    }
    p.qps.clear();
    for (const json& q : f.at("qps")) p.qps.push_back(qp_of(q));
    p.more_qps = f.at("more_qps").get<std::uint64_t>();
    for (const json& e : f.at("events"))
      add_event(
          p, text_of("%13s  ", time_text(e.at("t").get<double>()).c_str()) + e.at("what").get<std::string>());
  } catch (const json::exception& e) {
    return Error{EINVAL, std::string("this is no frame: ") + e.what()};
  }
  return Done{};
}

double TopNode::rate(const std::string& name, std::uint64_t bytes, std::uint64_t taken_ns) {
  Before& b = before_[name];
  const double seconds = static_cast<double>(taken_ns - b.taken_ns) / 1e9;
  const double rate = b.taken_ns != 0 && taken_ns > b.taken_ns && bytes >= b.bytes
                          ? static_cast<double>(bytes - b.bytes) * 8 / seconds
                          : 0;
  if (taken_ns > b.taken_ns) b = {bytes, taken_ns};
  return rate;
}

void TopNode::take(const node::Snapshot& s, TopPicture& p) {
  p.title = "node " + s.host;
  p.lanes.clear();
  p.qps.clear();
  node::QpTotals sum;
  std::size_t qps = 0;
  for (const node::DeviceFacts& d : s.devices) {
    sum += d.totals;
    for (const node::PortFacts& port : d.ports) {
      const std::string name = d.name + " port " + std::to_string(port.port.value);
      p.lanes.push_back({name, port.interface + (port.admin_enabled ? "" : ", disabled"),
                         rate(name, port.counters.tx_bytes, s.time_ns),
                         static_cast<double>(port.bits_per_second), port.link_up && port.admin_enabled});
    }
  }
  for (const node::ProcessFacts& process : s.processes) {
    qps += process.qp_count;
    for (const node::QpFacts& q : process.qps) {
      TopQp& out = p.qps.emplace_back();
      out.name = text_of("%s %u 0x%06x > ", process.program.c_str(), process.pid, q.qpn.value) +
                 node::address_text(q.peer);
      out.rate =
          rate(std::to_string(process.pid) + "/" + std::to_string(q.qpn.value), q.tx_bytes, process.taken_ns);
      out.rtt_us = static_cast<double>(q.rtt_ns) / 1e3;
      out.window_kb = static_cast<double>(q.window) / 1e3;
      out.repairs = q.repairs;
      out.lost = q.lost_by_order + q.lost_by_silence + q.lost_by_timeout;
      for (std::size_t i = 0; i < 4; ++i) out.counts[i] = q.evs_in_state[i];
      tell_paths(out, s.time_ns, p);
      for (const node::EvFacts& ev : q.evs)
        out.evs.emplace_back(ev.port.value, "gsbd"[static_cast<int>(ev.state) & 3]);
    }
  }
  p.more_qps = qps > p.qps.size() ? qps - p.qps.size() : 0;
  p.summary = {text_of(
      "%s   %s   %s   repairs %" PRIu64 "   repeats %" PRIu64 "   timeouts %" PRIu64 "   failed QPs %" PRIu64,
      counted(s.devices.size(), "device").c_str(), counted(s.processes.size(), "process").c_str(),
      counted(qps, "queue pair").c_str(), sum.repairs, sum.repeats, sum.timeouts, sum.failed_qps)};
}

// QPs without a profile raise no events: that paths were given up is seen in their counts. Of a number that
// goes up and down only the first and the last are told.
void TopNode::tell_paths(const TopQp& q, std::uint64_t now_ns, TopPicture& p) {
  std::uint32_t& before = bad_[q.name];
  if ((before == 0) != (q.counts[2] == 0))
    add_event(p,
              clock_text(now_ns) + q.name + ": " +
                  (q.counts[2] == 0 ? "all EVs usable again" : counted(q.counts[2], "EV") + " assumed bad"));
  before = q.counts[2];
}

std::string TopNode::text(const node::NodeEvent& e) {
  const std::string head = clock_text(e.time_ns) + e.device + " ";
  using node::EventKind;
  switch (e.kind) {
    case EventKind::ev_state:
      return head + text_of("profile %" PRIu64 ": an EV on port %u is %s", e.profile, e.value.port,
                            name_of(e.state));
    case EventKind::port_link: return head + text_of("port %u: link %s", e.port.value, e.up ? "up" : "down");
    case EventKind::port_admin:
      return head + text_of("port %u: %s", e.port.value, e.up ? "enabled" : "disabled");
    case EventKind::process_joined: return head + text_of("process %u joined", e.pid);
    case EventKind::process_left: return head + text_of("process %u left", e.pid);
    case EventKind::profile_changed: return head + text_of("profile %" PRIu64 " changed", e.profile);
    case EventKind::qp_failed: return head + text_of("QP 0x%06x of process %u failed", e.qpn.value, e.pid);
  }
  return head;
}

const char* name_of(TopOrder::By by) {
  switch (by) {
    case TopOrder::By::name: return "name";
    case TopOrder::By::rate: return "rate";
    case TopOrder::By::rtt: return "RTT";
    case TopOrder::By::window: return "window";
    case TopOrder::By::repairs: return "repairs";
    case TopOrder::By::bad: return "bad EVs";
  }
  return "";
}

std::vector<const TopQp*> ordered(const TopPicture& p, const TopOrder& o) {
  std::vector<const TopQp*> out;
  for (const TopQp& q : p.qps) {
    if (q.name.find(o.filter) != std::string::npos) out.push_back(&q);
  }
  const auto value = [&](const TopQp& q) {
    switch (o.by) {
      case TopOrder::By::name: return 0.0;
      case TopOrder::By::rate: return q.rate;
      case TopOrder::By::rtt: return q.rtt_us;
      case TopOrder::By::window: return q.window_kb;
      case TopOrder::By::repairs: return static_cast<double>(q.repairs);
      case TopOrder::By::bad: return static_cast<double>(q.counts[2]);
    }
    return 0.0;
  };
  const auto before = [&](const TopQp* a, const TopQp* b) {
    const double x = value(*a), y = value(*b);
    return x != y ? x > y : a->name < b->name;
  };
  std::stable_sort(out.begin(), out.end(), before);
  if (o.reverse) std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace mrc::tools
