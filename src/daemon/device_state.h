// One device of the node, as mrcd keeps it: its profiles, which of its ports are disabled, and what processes
// that have ended did on it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/device.h"
#include "node/local_profiles.h"
#include "node/messages.h"

namespace mrc::daemon {

/// Processes may call a device as they like; its addresses say which it is.
std::string key_of(const std::vector<node::PortPlace>& ports);

struct DeviceState {
  DeviceState(std::string device_name, std::uint64_t device_guid, std::vector<node::PortPlace> places);

  /// mrcd's own, of its settings: answers endpoint operations and knows the links.
  bool own() const { return device != nullptr; }
  bool has(PortId port) const { return port.value >= 1 && port.value <= ports.size(); }
  /// Nothing to keep when nobody uses it any more.
  bool blank() const;
  void retire(const node::ProcessFacts& process);

  std::string name;
  std::uint64_t guid;
  std::vector<node::PortPlace> ports;
  node::LocalProfiles profiles;
  node::EvEventQueue ev_events;
  PortMask disabled;
  std::map<std::uint64_t, std::vector<node::EvValue>> found_bad;  // denied by the mapper, by profile
  std::shared_ptr<lib::Device> device;
  std::size_t sessions = 0;
  node::QpTotals gone;                         // of processes that have ended
  std::vector<node::PortCounters> gone_ports;  // the same, by port
};

}  // namespace mrc::daemon
