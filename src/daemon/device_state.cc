#include "daemon/device_state.h"

namespace mrc::daemon {
namespace {

constexpr std::size_t kEventDepth = 1 << 16;  // emptied after each message, which changes fewer

node::ProfileLimits limits_for(std::size_t ports) {
  node::ProfileLimits limits;
  limits.ports = static_cast<std::uint32_t>(ports);
  return limits;
}

}  // namespace

std::string key_of(const std::vector<node::PortPlace>& ports) {
  std::string key;
  for (const node::PortPlace& port : ports)
    key += (key.empty() ? "" : ",") + node::address_text(port.address);
  return key;
}

DeviceState::DeviceState(std::string device_name, std::uint64_t device_guid,
                         std::vector<node::PortPlace> places)
    : name(std::move(device_name)),
      guid(device_guid),
      ports(std::move(places)),
      profiles(limits_for(ports.size())),
      ev_events(kEventDepth),
      gone_ports(ports.size()) {
  profiles.subscribe(&ev_events);
}

bool DeviceState::blank() const {
  return !own() && disabled.empty() && profiles.formats().empty() && profiles.evs().empty() &&
         profiles.ccs().empty();
}

void DeviceState::retire(const node::ProcessFacts& process) {
  gone += process.totals;
  for (std::size_t i = 0; i < process.ports.size() && i < gone_ports.size(); ++i) {
    gone_ports[i] += process.ports[i].counters;
  }
}

}  // namespace mrc::daemon
