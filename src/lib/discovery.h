// Which soft devices this process sees, and over which interfaces and addresses: from the environment, or by
// default from the machine itself. Reading only; nothing is opened.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "lib/device_types.h"

namespace mrc::lib {

/// One network interface as the kernel describes it.
struct Interface {
  std::string name;
  std::uint32_t index = 0;
  std::array<std::uint8_t, 6> mac{};
  bool loopback = false;
  bool up = false;
  std::vector<Gid> addresses;  // IPv4 (mapped) first, then global IPv6, then link-local
};

struct PortConfig {
  PortId id;
  Interface interface;
  Gid address{};               // where this port receives and sends from: the routable one
  std::vector<GidEntry> gids;  // as make_gid_table lays it out
};

struct DeviceConfig {
  std::string name;  // mrc0, mrc1, ...
  std::uint64_t guid = 0;
  std::vector<PortConfig> ports;  // at least one; port N is ports[N-1]
};

/// The machine's interfaces now.
Result<std::vector<Interface>> read_interfaces();
/// The interface that the default route leaves by, IPv4 before IPv6; empty when there is none.
std::string default_route_interface();
bool is_link_local(const Gid& gid);
/// ::ffff:a.b.c.d
bool is_v4(const Gid& gid);

/// MRC_DEVICES says which: "eth0,eth1;eth2" is mrc0 over two ports and mrc1 over one; a port may name an
/// address, "eth0/10.0.0.1". Empty: none. Unset: one device, one port, on the interface of the default route,
/// else the first that is up, else loopback. Errors say which word is wrong.
Result<std::vector<DeviceConfig>> make_devices(const std::optional<std::string>& mrc_devices,
                                               const std::vector<Interface>& interfaces,
                                               const std::string& default_interface);

/// All of them so often, one list behind the other, as MRC_COPIES says: each is driven by a thread of its
/// own. EINVAL when it is no number from 1 to kMaxCopies.
Result<std::vector<DeviceConfig>> copied(const std::vector<DeviceConfig>& devices,
                                         const std::optional<std::string>& mrc_copies);
inline constexpr unsigned kMaxCopies = 16;

/// These together, with the process's environment; where MRC_DEVICES is unset, the devices of the node's
/// mrcd.
Result<std::vector<DeviceConfig>> discover();

/// The devices of the node's mrcd in the words of MRC_DEVICES; with an address, only the one that has it.
/// Nothing when there is no mrcd, or none of its devices is meant.
std::optional<std::string> devices_of_node(const std::optional<Gid>& with = {});

/// Laid out as RoCE devices do: pairs of v1 and v2, the link-local GID of the MAC first, so that index 3 is a
/// routable RoCE v2 GID wherever the interface has a routable address.
std::vector<GidEntry> make_gid_table(const Interface& interface, const Gid& preferred);

}  // namespace mrc::lib
