// `mrc ctl`: a node from the command line.
#include "tools/ctl.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "tools/commands.h"

namespace mrc::tools {
namespace {

/// One verb of `mrc ctl`: what it is, and what describes it.
struct Verb {
  const char* name;
  const char* summary;
  Run (*describe)(CLI::App& app, const std::shared_ptr<CtlOptions>& options);
};

constexpr Verb kVerbs[] = {
    {"devices", "the node's devices", ctl_devices},
    {"ports", "ports: list them, take them up or down", ctl_ports},
    {"profiles", "formats, EV and CC profiles: list, show, create, delete", ctl_profiles},
    {"evs", "EVs of a profile: list, deny, allow", ctl_evs},
    {"probe", "EV probes to another node: is the path alive, how long is it", ctl_probe},
    {"counters", "what each device did, all processes together", ctl_counters},
    {"snapshot", "everything that mrcd knows, at once", ctl_snapshot},
    {"events", "what happens on the node", ctl_events},
};

}  // namespace

int ctl_fail(const Error& error) {
  std::fprintf(stderr, "mrc ctl: %s\n", error.what.c_str());
  return 1;
}

int ctl_refuse(const std::string& what) { return ctl_fail({EINVAL, what}), kUsageError; }

int width_of_names(const std::vector<node::DeviceFacts>& devices) {
  std::size_t widest = 8;
  for (const node::DeviceFacts& device : devices) widest = std::max(widest, device.name.size());
  return static_cast<int>(widest);
}

Result<node::DaemonClient> ctl_connect(const CtlOptions& options, const std::string& device) {
  const std::string path = options.socket.empty() ? node::daemon_socket() : options.socket;
  auto client = node::DaemonClient::open(path, device);
  if (client) return client;
  const int code = client.error().code;
  if (code == ENOENT || code == ECONNREFUSED)
    return Error{code, "no mrcd runs at " + path + ": start it with `mrcd`, or say --socket"};
  return client;
}

Run ctl(CLI::App& app) {
  auto options = std::make_shared<CtlOptions>();
  app.require_subcommand(1);
  app.add_option("--socket", options->socket, "where mrcd listens (MRC_SOCKET)")->type_name("PATH");
  auto runs = std::make_shared<std::vector<std::pair<CLI::App*, Run>>>();
  for (const Verb& verb : kVerbs) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.summary);
    sub->fallthrough();  // --socket may stand behind the verb as well
    sub->add_flag("--json", options->json, "JSON instead of a table");
    runs->emplace_back(sub, verb.describe(*sub, options));
  }
  app.footer("Example: mrc ctl ports\n         mrc ctl events --watch");
  return [runs] {
    for (const auto& [sub, run] : *runs) {
      if (sub->parsed()) return run();
    }
    return kUsageError;
  };
}

}  // namespace mrc::tools
