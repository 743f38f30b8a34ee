// One device of the node, as mrcd keeps it: its profiles, which of its ports are disabled, and what processes
// that have ended did on it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/device.h"
#include "node/local_profiles.h"
#include "node/messages.h"

namespace mrc::daemon {

/// Processes may call a device as they like; its addresses say which it is.
std::string key_of(const std::vector<node::PortPlace>& ports);

/// What processes did on a device.
struct Account {
  explicit Account(std::size_t port_count = 0) : ports(port_count) {}
  void add(const Account& other);

  node::QpTotals totals;
  std::vector<node::PortCounters> ports;
};

/// A process whose connection ended. It may only have lost it: then it comes back, with all its counters.
struct Departed {
  std::uint32_t pid;
  std::uint64_t life;
  Account account;
};

struct DeviceState {
  DeviceState(std::string device_name, std::uint64_t device_guid, std::vector<node::PortPlace> places);

  /// mrcd's own, of its settings: answers endpoint operations and knows the links.
  bool own() const { return device != nullptr; }
  bool has(PortId port) const { return port.value >= 1 && port.value <= ports.size(); }
  /// Nothing to keep when nobody uses it any more.
  bool blank() const;
  /// `life` 0: it will not come back.
  void retire(const node::ProcessFacts& process, std::uint64_t life);
  /// What this process had done when its connection ended: it is back, and counts for itself again.
  std::optional<Account> take_back(std::uint32_t pid, std::uint64_t life);
  /// Of processes that are not connected.
  Account gone() const;

  std::string name;
  std::uint64_t guid;
  std::vector<node::PortPlace> ports;
  node::LocalProfiles profiles;
  node::EvEventQueue ev_events;
  PortMask disabled;
  std::map<std::uint64_t, std::vector<node::EvValue>> found_bad;  // denied by the mapper, by profile
  std::shared_ptr<lib::Device> device;
  std::size_t sessions = 0;

 private:
  static constexpr std::size_t kMostDeparted = 1024;  // those before them have ended, we suppose
  std::deque<Departed> departed_;                     // newest last
  Account ended_;                                     // of all before them
};

using Devices = std::map<std::string, std::unique_ptr<DeviceState>>;  // by key

/// Processes may call different devices alike: who comes later has its addresses behind its name, as many as
/// it takes to tell it from the others.
std::string name_beside(const Devices& others, std::string name, const std::vector<node::PortPlace>& ports);

}  // namespace mrc::daemon
