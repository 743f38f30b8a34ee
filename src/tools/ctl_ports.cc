// `mrc ctl devices`, `mrc ctl ports` and `mrc ctl counters`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>

#include "base/json.h"
#include "tools/ctl_context.h"

namespace mrc::tools {
namespace {

using namespace node;

Result<Snapshot> ask(const CtlOptions& options) {
  auto client = ctl_connect(options);
  if (!client) return client.error();
  return client->snapshot(false);
}

/// As MRC_DEVICES names it.
std::string places_of(const DeviceFacts& device) {
  std::string text;
  for (const PortFacts& port : device.ports)
    text += (text.empty() ? "" : ",") + port.interface + "/" + address_text(port.address);
  return text;
}

/// The first few by name: `mrc ctl snapshot` has them all.
std::string users_of(const DeviceFacts& device, const std::vector<ProcessFacts>& processes) {
  constexpr std::size_t kFew = 4;
  std::string text;
  std::size_t n = 0;
  for (const ProcessFacts& p : processes) {
    if (p.device != device.name || ++n > kFew) continue;
    text += (text.empty() ? "" : ", ") + p.program + " " + std::to_string(p.pid);
  }
  if (n > kFew) text += " and " + std::to_string(n - kFew) + " more";
  return n == 0 ? "none" : text;
}

int list_devices(const CtlOptions& options) {
  const auto s = ask(options);
  if (!s) return ctl_fail(s.error());
  if (options.json) {
    JsonWriter json;
    json.begin_array();
    for (const DeviceFacts& d : s->devices) {
      json.begin_object().field("name", d.name).field("guid", d.guid).field("ports", d.ports.size());
      json.field("formats", d.formats)
          .field("ev_profiles", d.ev_profiles)
          .field("cc_profiles", d.cc_profiles);
      json.begin_array("pids");
      for (const ProcessFacts& p : s->processes) {
        if (p.device == d.name) json.value(p.pid);
      }
      json.end_array().end_object();
    }
    return std::puts(json.end_array().text().c_str()), 0;
  }
  const int wide = width_of_names(s->devices);
  std::printf("%-*s %-18s %5s %8s %12s %12s  %-28s %s\n", wide, "DEVICE", "GUID", "PORTS", "FORMATS",
              "EV PROFILES", "CC PROFILES", "WHERE", "PROCESSES");
  for (const DeviceFacts& d : s->devices) {
    std::printf("%-*s 0x%016" PRIx64 " %5zu %8u %12u %12u  %-28s %s\n", wide, d.name.c_str(), d.guid,
                d.ports.size(), d.formats, d.ev_profiles, d.cc_profiles, places_of(d).c_str(),
                users_of(d, s->processes).c_str());
  }
  return 0;
}

void write_port(JsonWriter& json, const std::string& device, const PortFacts& p) {
  json.begin_object().field("device", device).field("port", p.port.value).field("interface", p.interface);
  json.field("address", address_text(p.address)).field("admin", p.admin_enabled).field("link", p.link_up);
  json.field("mtu", p.link_mtu).field("bits_per_second", p.bits_per_second).end_object();
}

struct PortOptions {
  std::string verb = "list", device;
  unsigned port = 0;
};

int list_ports(const CtlOptions& options, const PortOptions& o) {
  const auto s = ask(options);
  if (!s) return ctl_fail(s.error());
  const auto wanted = [&](const DeviceFacts& d) { return o.device.empty() || d.name == o.device; };
  if (!o.device.empty() && std::none_of(s->devices.begin(), s->devices.end(), wanted))
    return ctl_fail({ENODEV, "there is no device " + o.device + ": `mrc ctl devices` lists them"});
  const auto has_it = [&](const DeviceFacts& d) { return wanted(d) && o.port <= d.ports.size(); };
  if (o.port != 0 && std::none_of(s->devices.begin(), s->devices.end(), has_it))
    return ctl_fail({EINVAL, "the device has no port " + std::to_string(o.port)});
  JsonWriter json;
  json.begin_array();
  const int wide = width_of_names(s->devices);
  if (!options.json)
    std::printf("%-*s %4s  %-12s %-26s %-6s %-5s %6s\n", wide, "DEVICE", "PORT", "INTERFACE", "ADDRESS",
                "ADMIN", "LINK", "MTU");
  for (const DeviceFacts& d : s->devices) {
    if (!wanted(d)) continue;
    for (const PortFacts& p : d.ports) {
      if (o.port != 0 && p.port.value != o.port) continue;
      if (options.json) {
        write_port(json, d.name, p);
      } else {
        std::printf("%-*s %4u  %-12s %-26s %-6s %-5s %6u\n", wide, d.name.c_str(), p.port.value,
                    p.interface.c_str(), address_text(p.address).c_str(), p.admin_enabled ? "up" : "down",
                    p.link_up ? "up" : "down", p.link_mtu);
      }
    }
  }
  if (options.json) std::puts(json.end_array().text().c_str());
  return 0;
}

int set_port(const CtlOptions& options, const PortOptions& o) {
  const bool up = o.verb == "up";
  if (o.port == 0) return ctl_refuse("which port? say `mrc ctl ports " + o.verb + " PORT`");
  auto context = CtlContext::open(options, o.device, true);
  if (!context) return ctl_fail(context.error());
  mrc_ctl_port_attr attr{up ? MRC_CTL_PORT_ADMIN_ENABLED : MRC_CTL_PORT_ADMIN_DISABLED};
  const auto port = static_cast<std::uint8_t>(o.port);
  if (mrc_ctl_modify_port(context->get(), port, &attr, MRC_CTL_PORT_ADMIN_STATE) == 0) return 0;
  if (errno == EINVAL) return ctl_fail({EINVAL, "the device has no port " + std::to_string(o.port)});
  return ctl_fail(ctl_error("take port " + std::to_string(o.port) + (up ? " up" : " down"), errno));
}

void write_totals(JsonWriter& json, const DeviceFacts& d) {
  const QpTotals& t = d.totals;
  json.begin_object().field("device", d.name).field("tx_packets", t.tx_packets).field("tx_bytes", t.tx_bytes);
  json.field("rx_packets", t.rx_packets).field("rx_bytes", t.rx_bytes).field("repairs", t.repairs);
  json.field("repeats", t.repeats);
  json.field("timeouts", t.timeouts).field("probes", t.probes).field("duplicates", t.duplicates);
  json.field("trims", t.trims).field("marks", t.marks).field("refused", t.refused);
  json.field("failed_qps", t.failed_qps).end_object();
}

int show_counters(const CtlOptions& options) {
  const auto s = ask(options);
  if (!s) return ctl_fail(s.error());
  JsonWriter json;
  json.begin_array();
  for (const DeviceFacts& d : s->devices) {
    const QpTotals& t = d.totals;
    if (options.json) {
      write_totals(json, d);
      continue;
    }
    const std::pair<const char*, std::uint64_t> rows[] = {{"packets sent", t.tx_packets},
                                                          {"bytes sent", t.tx_bytes},
                                                          {"repairs", t.repairs},
                                                          {"of them only late", t.repeats},
                                                          {"timeouts", t.timeouts},
                                                          {"probes", t.probes},
                                                          {"packets received", t.rx_packets},
                                                          {"bytes received", t.rx_bytes},
                                                          {"duplicates", t.duplicates},
                                                          {"trimmed", t.trims},
                                                          {"marked (ECN)", t.marks},
                                                          {"refused", t.refused},
                                                          {"queue pairs that failed", t.failed_qps}};
    std::printf("%s\n", d.name.c_str());
    for (const auto& [name, value] : rows) std::printf("  %-24s %16" PRIu64 "\n", name, value);
  }
  if (options.json) std::puts(json.end_array().text().c_str());
  return 0;
}

}  // namespace

Run ctl_devices(CLI::App& app, const std::shared_ptr<CtlOptions>& options) {
  app.footer("Example: mrc ctl devices");
  return [options] { return list_devices(*options); };
}

Run ctl_ports(CLI::App& app, const std::shared_ptr<CtlOptions>& options) {
  auto o = std::make_shared<PortOptions>();
  app.add_option("verb", o->verb, "list, up or down")->check(CLI::IsMember({"list", "up", "down"}));
  app.add_option("port", o->port, "which port, from 1")->check(CLI::Range(1, 31));
  app.add_option("--device", o->device, "of this device; to change one it is needed where there are several")
      ->type_name("NAME");
  app.footer("Example: mrc ctl ports\n         mrc ctl ports down 2 --device mrc0");
  return [options, o] { return o->verb == "list" ? list_ports(*options, *o) : set_port(*options, *o); };
}

Run ctl_counters(CLI::App& app, const std::shared_ptr<CtlOptions>& options) {
  app.footer("Example: mrc ctl counters --json");
  return [options] { return show_counters(*options); };
}

}  // namespace mrc::tools
