#include "tools/soft_device.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "lib/soft_context.h"
#include "port/address.h"

namespace mrc::tools {

Status choose_device(const std::string& device, const std::string& address) {
  if (!device.empty()) return ::setenv("MRC_DEVICES", device.c_str(), 1), Done{};
  if (std::getenv("MRC_DEVICES") != nullptr) return Done{};
  const auto ip = port::parse_address(address);
  if (!ip) return ip.error();
  const auto interfaces = lib::read_interfaces();
  if (!interfaces) return interfaces.error();
  for (const lib::Interface& i : *interfaces) {
    const bool loopback = i.loopback && ip->is_v4() && ip->ip[12] == 127;
    if (!loopback && std::find(i.addresses.begin(), i.addresses.end(), ip->ip) == i.addresses.end()) continue;
    ::setenv("MRC_DEVICES", (i.name + "/" + address).c_str(), 1);
    return Done{};
  }
  return Error{EADDRNOTAVAIL, "no interface of this host has the address " + address};
}

Result<ibv_context*> open_soft_device() {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  if (list == nullptr) return Error{errno, std::string("no device: ") + std::strerror(errno)};
  ibv_context* verbs = nullptr;
  bool any = false;
  for (int i = 0; i < count && verbs == nullptr; ++i) {
    if (!lib::is_soft(list[i])) continue;
    any = true;
    verbs = ibv_open_device(list[i]);
  }
  const int error = errno;
  ibv_free_device_list(list);
  if (verbs != nullptr) return verbs;
  if (!lib::soft_devices().error.empty()) return Error{error, lib::soft_devices().error};
  if (!any)
    return Error{
        ENODEV,
        "there is no device: MRC_DEVICES is empty, or no interface has an address; name one, such as "
        "MRC_DEVICES=eth0"};
  return Error{error, std::string("the device does not open: ") + std::strerror(error)};
}

std::uint8_t gid_index_of(ibv_context* verbs) {
  const lib::Device& device = *lib::soft_context(verbs)->device();
  const auto gids = device.gids(PortId(1));
  for (std::size_t i = 0; i < gids.size(); ++i) {
    if (gids[i].gid == device.config().ports[0].address && gids[i].type == lib::GidType::roce_v2) {
      return static_cast<std::uint8_t>(i);
    }
  }
  return 3;
}

}  // namespace mrc::tools
