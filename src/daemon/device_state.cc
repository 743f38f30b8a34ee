#include "daemon/device_state.h"

#include <algorithm>

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

std::string name_beside(const Devices& others, std::string name, const std::vector<node::PortPlace>& ports) {
  const auto taken = [&] {
    return std::any_of(others.begin(), others.end(), [&](const auto& other) {
      return other.second != nullptr && other.second->name == name;
    });
  };
  for (const node::PortPlace& place : ports) {
    if (!taken()) break;
    name += "@" + node::address_text(place.address);
  }
  return name;
}

DeviceState::DeviceState(std::string device_name, std::uint64_t device_guid,
                         std::vector<node::PortPlace> places)
    : name(std::move(device_name)),
      guid(device_guid),
      ports(std::move(places)),
      profiles(limits_for(ports.size())),
      ev_events(kEventDepth),
      ended_(ports.size()) {
  profiles.subscribe(&ev_events);
}

bool DeviceState::blank() const {
  return !own() && disabled.empty() && profiles.formats().empty() && profiles.evs().empty() &&
         profiles.ccs().empty();
}

void Account::add(const Account& other) {
  totals += other.totals;
  for (std::size_t i = 0; i < std::min(ports.size(), other.ports.size()); ++i) ports[i] += other.ports[i];
}

void DeviceState::retire(const node::ProcessFacts& process, std::uint64_t life) {
  Account account(ports.size());
  account.totals = process.totals;
  for (std::size_t i = 0; i < std::min(ports.size(), process.ports.size()); ++i)
    account.ports[i] = process.ports[i].counters;
  if (life == 0) return ended_.add(account);
  departed_.push_back({process.pid, life, std::move(account)});
  if (departed_.size() <= kMostDeparted) return;
  ended_.add(departed_.front().account);
  departed_.pop_front();
}

std::optional<Account> DeviceState::take_back(std::uint32_t pid, std::uint64_t life) {
  const auto found = std::find_if(departed_.begin(), departed_.end(),
                                  [&](const Departed& d) { return d.pid == pid && d.life == life; });
  if (found == departed_.end()) return std::nullopt;
  std::optional<Account> account(std::move(found->account));
  departed_.erase(found);
  return account;
}

Account DeviceState::gone() const {
  Account sum = ended_;
  for (const Departed& process : departed_) sum.add(process.account);
  return sum;
}

}  // namespace mrc::daemon
