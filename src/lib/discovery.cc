// Turns the setting MRC_DEVICES and the machine's interfaces into device configurations.
#include "lib/discovery.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "node/daemon_client.h"

namespace mrc::lib {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else if (c != ' ') {
      parts.back() += c;
    }
  }
  return parts;
}

std::optional<Gid> parse_gid(const std::string& text) {
  Gid gid{};
  if (inet_pton(AF_INET6, text.c_str(), gid.data()) == 1) return gid;
  gid.fill(0);
  gid[10] = gid[11] = 0xff;
  if (inet_pton(AF_INET, text.c_str(), gid.data() + 12) == 1) return gid;
  return std::nullopt;
}

/// 127.0.0.2 serves as well as 127.0.0.1: all of 127/8 is the loopback interface's.
bool owns(const Interface& interface, const Gid& gid) {
  const auto& all = interface.addresses;
  if (std::find(all.begin(), all.end(), gid) != all.end()) return true;
  return interface.loopback && gid[11] == 0xff && gid[12] == 127;
}

Result<Gid> address_for(const Interface& interface, const std::string& wanted) {
  if (wanted.empty()) {
    for (const auto& gid : interface.addresses) {
      if (!is_link_local(gid)) return gid;
    }
    if (!interface.addresses.empty()) return interface.addresses.front();
    return Error{EADDRNOTAVAIL, interface.name + " has no IP address: give it one (ip address add ...)"};
  }
  const auto gid = parse_gid(wanted);
  if (!gid) return Error{EINVAL, "MRC_DEVICES: '" + wanted + "' is not an IPv4 or IPv6 address"};
  if (!owns(interface, *gid)) {
    return Error{EADDRNOTAVAIL, "MRC_DEVICES: " + interface.name + " does not have the address " + wanted};
  }
  return *gid;
}

Result<PortConfig> make_port(const std::string& word, int number, const std::vector<Interface>& interfaces) {
  const auto slash = word.find('/');
  const auto name = word.substr(0, slash);
  const auto known = std::find_if(interfaces.begin(), interfaces.end(),
                                  [&](const Interface& one) { return one.name == name; });
  if (known == interfaces.end()) {
    return Error{ENODEV, "MRC_DEVICES: there is no interface '" + name + "' (see: ip link)"};
  }
  const auto address = address_for(*known, slash == std::string::npos ? "" : word.substr(slash + 1));
  if (!address) return address.error();
  PortConfig port;
  port.id = PortId(static_cast<std::uint8_t>(number));
  port.interface = *known;
  port.address = *address;
  port.gids = make_gid_table(*known, *address);
  return port;
}

/// The EUI-64 of the first port's MAC; devices that share an interface differ in the last byte of their
/// address.
std::uint64_t make_guid(const DeviceConfig& device) {
  const auto& first = device.ports.front();
  std::uint64_t guid = 0;
  for (int i = 8; i < 16; ++i) guid = guid << 8 | first.gids.front().gid[i];
  std::uint64_t address = 0;
  for (int i = 12; i < 16; ++i) address = address << 8 | first.address[i];
  return first.interface.loopback ? guid ^ address : guid;
}

/// A peer's planes are found from one of its addresses: all of a device are of one family.
Status check_beside(const PortConfig& port, const DeviceConfig& device) {
  if (device.ports.empty() || is_v4(port.address) == is_v4(device.ports[0].address)) return Done{};
  return Error{EAFNOSUPPORT, "MRC_DEVICES: " + node::address_text(port.address) + " and " +
                                 node::address_text(device.ports[0].address) +
                                 " are ports of one device, which needs addresses of one family: name "
                                 "them, as in eth0/10.0.0.1"};
}

Result<DeviceConfig> make_device(const std::string& words, int number,
                                 const std::vector<Interface>& interfaces) {
  DeviceConfig device;
  device.name = "mrc" + std::to_string(number);
  for (const auto& word : split(words, ',')) {
    if (device.ports.size() == static_cast<std::size_t>(kMaxPorts)) {
      return Error{E2BIG, "MRC_DEVICES: a device has at most 31 ports"};
    }
    auto port = make_port(word, static_cast<int>(device.ports.size()) + 1, interfaces);
    if (!port) return port.error();
    const auto same = [&](const PortConfig& one) { return one.address == port->address; };
    if (std::any_of(device.ports.begin(), device.ports.end(), same))
      return Error{EINVAL, "MRC_DEVICES: '" + word + "' is there twice in one device"};
    if (auto fits = check_beside(*port, device); !fits) return fits.error();
    device.ports.push_back(*std::move(port));
  }
  device.guid = make_guid(device);
  return device;
}

std::string default_interface_of(const std::vector<Interface>& interfaces, const std::string& routed) {
  const Interface* loopback = nullptr;
  const Interface* first_up = nullptr;
  for (const auto& one : interfaces) {
    if (one.addresses.empty() || !one.up) continue;
    if (one.name == routed) return routed;
    if (one.loopback) {
      loopback = &one;
    } else if (first_up == nullptr) {
      first_up = &one;
    }
  }
  const Interface* chosen = first_up != nullptr ? first_up : loopback;
  return chosen != nullptr ? chosen->name : std::string();
}

}  // namespace

Result<std::vector<DeviceConfig>> make_devices(const std::optional<std::string>& mrc_devices,
                                               const std::vector<Interface>& interfaces,
                                               const std::string& default_interface) {
  std::string setting = mrc_devices.value_or(default_interface_of(interfaces, default_interface));
  std::vector<DeviceConfig> devices;
  if (setting.empty()) return devices;  // MRC_DEVICES= means none, and so does a machine without an address
  for (const auto& words : split(setting, ';')) {
    auto device = make_device(words, static_cast<int>(devices.size()), interfaces);
    if (!device) return device.error();
    devices.push_back(*std::move(device));
  }
  return devices;
}

Result<std::vector<DeviceConfig>> copied(const std::vector<DeviceConfig>& devices,
                                         const std::optional<std::string>& mrc_copies) {
  unsigned copies = 1;
  if (mrc_copies) {
    const char* end = mrc_copies->data() + mrc_copies->size();
    const auto [stop, error] = std::from_chars(mrc_copies->data(), end, copies);
    if (error != std::errc{} || stop != end || copies < 1 || copies > kMaxCopies)
      return Error{EINVAL,
                   "MRC_COPIES=" + *mrc_copies + " is not a number from 1 to " + std::to_string(kMaxCopies)};
  }
  std::vector<DeviceConfig> all;
  for (unsigned i = 0; i < copies; ++i) {
    for (DeviceConfig device : devices) {
      device.name = "mrc" + std::to_string(all.size());
      all.push_back(std::move(device));
    }
  }
  return all;
}

namespace {

std::optional<std::string> variable(const char* text) {
  return text != nullptr ? std::optional<std::string>(text) : std::nullopt;
}

}  // namespace

std::optional<std::string> devices_of_node(const std::optional<Gid>& with) {
  auto client = node::DaemonClient::open(node::daemon_socket());
  if (!client) return std::nullopt;
  const auto are = client->ask<node::DevicesAre>(node::GetDevices{});
  if (!are) return std::nullopt;
  std::string words;
  for (const node::DeviceFacts& device : are->devices) {
    const auto has_it = [&](const node::PortFacts& port) { return port.address == *with; };
    if (with && std::none_of(device.ports.begin(), device.ports.end(), has_it)) continue;
    if (!words.empty()) words += ';';
    for (const node::PortFacts& port : device.ports) {
      if (port.port != PortId(1)) words += ',';
      words += port.interface + "/" + node::address_text(port.address);
    }
  }
  if (words.empty()) return std::nullopt;
  return words;
}

Result<std::vector<DeviceConfig>> discover() {
  const auto interfaces = read_interfaces();
  if (!interfaces) return interfaces.error();
  auto setting = variable(std::getenv("MRC_DEVICES"));
  if (!setting) setting = devices_of_node();
  const auto devices = make_devices(setting, *interfaces, default_route_interface());
  return devices ? copied(*devices, variable(std::getenv("MRC_COPIES"))) : devices;
}

}  // namespace mrc::lib
