// What the verbs of `mrc ctl` share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "node/daemon_client.h"
#include "tools/commands.h"

namespace mrc::tools {

struct CtlOptions {
  std::string socket;
  bool json = false;
};

int ctl_fail(const Error& error);
/// A word is missing or wrong: the status of wrong usage.
int ctl_refuse(const std::string& what);
/// mrcd, or what to do when it is not there. `device` empty: the node as a whole.
Result<node::DaemonClient> ctl_connect(const CtlOptions& options, const std::string& device = {});

/// Of the column of devices in a table.
int width_of_names(const std::vector<node::DeviceFacts>& devices);

Run ctl_counters(CLI::App& app, const std::shared_ptr<CtlOptions>& options);
Run ctl_devices(CLI::App& app, const std::shared_ptr<CtlOptions>& options);
Run ctl_evs(CLI::App& app, const std::shared_ptr<CtlOptions>& options);
Run ctl_ports(CLI::App& app, const std::shared_ptr<CtlOptions>& options);
Run ctl_probe(CLI::App& app, const std::shared_ptr<CtlOptions>& options);
Run ctl_profiles(CLI::App& app, const std::shared_ptr<CtlOptions>& options);
Run ctl_snapshot(CLI::App& app, const std::shared_ptr<CtlOptions>& options);
Run ctl_events(CLI::App& app, const std::shared_ptr<CtlOptions>& options);

}  // namespace mrc::tools
