// `mrc ctl snapshot` and `mrc ctl events`: looking on.
#include <CLI/CLI.hpp>
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <thread>

#include "base/counted.h"
#include "base/json.h"
#include "tools/ctl.h"
#include "tools/ctl_names.h"
#include "tools/real_range.h"

namespace mrc::tools {
namespace {

using namespace node;

void print_device(const DeviceFacts& device, int wide) {
  for (const PortFacts& port : device.ports) {
    std::printf("%-*s %4u  %-10s %-24s %-5s %-5s %14" PRIu64 " %14" PRIu64 "\n", wide, device.name.c_str(),
                port.port.value, port.interface.c_str(), address_text(port.address).c_str(),
                port.admin_enabled ? "on" : "off", port.link_up ? "up" : "down", port.counters.rx_bytes,
                port.counters.tx_bytes);
  }
}

void print_qp(const ProcessFacts& process, const QpFacts& qp) {
  const auto& in = qp.evs_in_state;
  std::printf("%-8u 0x%06x %-5s %-24s 0x%06x %12" PRIu64 " %8" PRIu64 " %9.1f %9" PRIu64 "  %u/%u/%u/%u\n",
              process.pid, qp.qpn.value, name_of(qp.state), address_text(qp.peer).c_str(),
              qp.remote_qpn.value, qp.tx_packets, qp.repairs, static_cast<double>(qp.rtt_ns) / 1000,
              qp.window, in[0], in[1], in[2], in[3]);
}

void print(const Snapshot& s) {
  std::printf("%s: mrcd %s, pid %u\n\n", s.host.c_str(), s.version.c_str(), s.mrcd_pid);
  const int wide = width_of_names(s.devices);
  std::printf("%-*s %4s  %-10s %-24s %-5s %-5s %14s %14s\n", wide, "DEVICE", "PORT", "INTERFACE", "ADDRESS",
              "ADMIN", "LINK", "RX BYTES", "TX BYTES");
  for (const DeviceFacts& device : s.devices) print_device(device, wide);
  std::printf("\n%-8s %-16s %-*s %6s %12s %8s  %s\n", "PID", "PROGRAM", wide, "DEVICE", "QPS", "PACKETS",
              "REPAIRS", "QP NUMBERS");
  for (const ProcessFacts& p : s.processes) {
    std::printf("%-8u %-16s %-*s %6u %12" PRIu64 " %8" PRIu64 "  0x%06x-0x%06x%s\n", p.pid, p.program.c_str(),
                wide, p.device.c_str(), p.qp_count, p.totals.tx_packets, p.totals.repairs, p.first_qpn.value,
                p.last_qpn.value, p.answered ? "" : "  (does not answer)");
  }
  std::printf("\n%-8s %-8s %-5s %-24s %-8s %12s %8s %9s %9s  %s\n", "PID", "QP", "STATE", "PEER", "ITS QP",
              "PACKETS", "REPAIRS", "RTT US", "WINDOW", "EVS good/skip/bad/denied");
  for (const ProcessFacts& p : s.processes) {
    for (const QpFacts& qp : p.qps) print_qp(p, qp);
  }
  if (s.truncated) std::puts("... and more queue pairs than one snapshot carries");
}

int show(const CtlOptions& options, bool with_evs) {
  auto client = ctl_connect(options);
  if (!client) return ctl_fail(client.error());
  const auto snapshot = client->snapshot(with_evs);
  if (!snapshot) return ctl_fail(snapshot.error());
  if (options.json) {
    std::puts(to_json(*snapshot).c_str());
  } else {
    print(*snapshot);
  }
  return 0;
}

const char* kind_name(EventKind kind) {
  switch (kind) {
    case EventKind::ev_state: return "ev_state";
    case EventKind::port_link: return "port_link";
    case EventKind::port_admin: return "port_admin";
    case EventKind::process_joined: return "process_joined";
    case EventKind::process_left: return "process_left";
    case EventKind::profile_changed: return "profile_changed";
    case EventKind::qp_failed: return "qp_failed";
  }
  return "?";
}

void write_json(const NodeEvent& e) {
  JsonWriter json;
  json.begin_object().field("time_ns", e.time_ns).field("event", kind_name(e.kind)).field("device", e.device);
  json.field("dropped", e.dropped);
  if (e.pid != 0) json.field("pid", e.pid);
  switch (e.kind) {
    case EventKind::ev_state:
      json.field("profile", e.profile).field("ev", ev_text(e.value.bits)).field("port", e.value.port);
      json.field("state", name_of(e.state));
      break;
    case EventKind::port_link:
    case EventKind::port_admin: json.field("port", e.port.value).field("up", e.up); break;
    case EventKind::profile_changed:
      json.field("kind", name_of(e.profile_kind)).field("profile", e.profile);
      break;
    case EventKind::qp_failed: json.field("qpn", e.qpn.value); break;
    case EventKind::process_joined:
    case EventKind::process_left: break;
  }
  json.end_object();
  std::puts(json.text().c_str());
}

void write_text(const NodeEvent& e) {
  const std::time_t seconds = static_cast<std::time_t>(e.time_ns / 1'000'000'000);
  std::tm local{};
  localtime_r(&seconds, &local);
  char when[16];
  std::strftime(when, sizeof when, "%H:%M:%S", &local);
  std::printf("%s.%03u %-6s ", when, static_cast<unsigned>(e.time_ns / 1'000'000 % 1000), e.device.c_str());
  switch (e.kind) {
    case EventKind::ev_state:
      std::printf("profile %" PRIu64 ": EV %s on port %u is %s", e.profile, ev_text(e.value.bits).c_str(),
                  e.value.port, name_of(e.state));
      break;
    case EventKind::port_link: std::printf("port %u: link %s", e.port.value, e.up ? "up" : "down"); break;
    case EventKind::port_admin:
      std::printf("port %u %s by process %u", e.port.value, e.up ? "enabled" : "disabled", e.pid);
      break;
    case EventKind::process_joined: std::printf("process %u joined", e.pid); break;
    case EventKind::process_left: std::printf("process %u left", e.pid); break;
    case EventKind::profile_changed:
      std::printf("%s profile %" PRIu64 " changed by process %u", name_of(e.profile_kind), e.profile, e.pid);
      break;
    case EventKind::qp_failed: std::printf("QP 0x%06x of process %u failed", e.qpn.value, e.pid); break;
  }
  if (e.dropped > 0)
    std::printf("  (%s before it %s lost)", counted(e.dropped, "event").c_str(),
                e.dropped == 1 ? "is" : "are");
  std::printf("\n");
}

struct EventOptions {
  std::string device;
  double seconds = 0;
  bool watch = false;
};

Result<DaemonClient> subscribe(const CtlOptions& options, const EventOptions& o) {
  auto client = ctl_connect(options, o.device);
  if (!client) return client;
  if (auto subscribed = client->subscribe(kAllEvents); !subscribed) return subscribed.error();
  return client;
}

/// One that closes the connection so often has not just been stopping.
constexpr int kGreetings = 20;

Result<DaemonClient> subscribe_again(const CtlOptions& options, const EventOptions& o, const Error& why) {
  std::fprintf(stderr, "mrc ctl: %s: events are missed until it is back\n", why.what.c_str());
  for (int closed = 0;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    auto client = subscribe(options, o);
    if (client || !node::may_return(client.error())) return client;
    closed = client.error().code == ECONNRESET ? closed + 1 : 0;
    if (closed == kGreetings) return client;
  }
}

int follow(const CtlOptions& options, const EventOptions& o) {
  auto client = subscribe(options, o);
  if (!client) return ctl_fail(client.error());
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(o.seconds);
  while (o.watch || std::chrono::steady_clock::now() < end) {
    const Duration left = std::chrono::duration_cast<Duration>(end - std::chrono::steady_clock::now());
    const auto event = client->next_event(o.watch ? Duration(std::chrono::hours(1)) : left);
    if (!event && o.watch) {
      client = subscribe_again(options, o, event.error());
      if (!client) return ctl_fail(client.error());
      continue;
    }
    if (!event) return ctl_fail(event.error());
    if (!*event) continue;
    options.json ? write_json(**event) : write_text(**event);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

Run ctl_snapshot(CLI::App& app, const std::shared_ptr<CtlOptions>& options) {
  auto with_evs = std::make_shared<bool>(false);
  app.add_flag("--evs", *with_evs, "with the state of every EV of every queue pair");
  app.footer("Example: mrc ctl snapshot --evs --json");
  return [options, with_evs] { return show(*options, *with_evs); };
}

Run ctl_events(CLI::App& app, const std::shared_ptr<CtlOptions>& options) {
  auto o = std::make_shared<EventOptions>();
  app.add_option("--device", o->device, "of this device only")->type_name("NAME");
  app.add_flag("--watch", o->watch, "until interrupted, also over restarts of mrcd");
  app.add_option("--seconds", o->seconds, "for so long (1)")
      ->default_val(1.0)
      ->check(real_range(0.0, 1e6))
      ->excludes("--watch");
  app.footer("Example: mrc ctl events --watch");
  return [options, o] { return follow(*options, *o); };
}

}  // namespace mrc::tools
