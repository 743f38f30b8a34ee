// A node's configuration in the languages that nodes speak. Text out; nothing is run or sent here.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topo/node_config.h"
#include "topo/select.h"

namespace mrc::topo {

/// A script of sysctl and `ip -batch`: run it as root in the node's network namespace; interfaces must exist.
std::string emit_iproute2(const NodeConfig& node);

/// The same as netlink messages, one after the other, to be written to a NETLINK_ROUTE socket in order.
/// `index_of` gives an interface's index; 0 means that it is missing, and is an error here.
Result<std::vector<std::uint8_t>> emit_netlink(const NodeConfig& node,
                                               const std::function<unsigned(const std::string&)>& index_of);

/// frr.conf: locator, static uN SID, static routes. For switches.
std::string emit_frr(const NodeConfig& node);

/// What a SONiC switch is told besides its SIDs and routes. DSCP numbers are the deployment's.
struct SonicSettings {
  std::uint32_t lanes_per_port = 1;  // ports are Ethernet<port * lanes>
  std::uint32_t data_limit = 150'000;
  std::uint32_t ecn_low = 30'000;
  std::uint32_t ecn_high = 120'000;
  std::uint32_t ecn_percent = 100;
  std::uint32_t trim_bytes = 256;
  std::uint8_t dscp_no_trim = 10, dscp_trimmable = 18, dscp_trimmable_retx = 26, dscp_control = 46,
               dscp_trimmed = 34, dscp_trimmed_lasthop = 36;
};
/// config_db.json: ports, static SRv6 uSID, static routes, classes, ECN and trimming. For switches.
std::string emit_sonic(const NodeConfig& node, const SonicSettings& settings);

/// For a controller, in TOML: the format of all of a host's EV profiles, and then one for each destination:
/// the row's template as the controller's fields, and `per_plane` EVs of each plane with their NIC port,
/// beside the 32-bit EV that packets carry and the carrier; where some are slow, the others stand there more
/// often. REQUIRES: the path fits one carrier.
std::string emit_ev_format(const Topology& topo, HostId source, HostId destination);
inline std::uint64_t ev_profile_id(HostId destination) { return destination.value + 1u; }
std::string emit_ev_profile(const Topology& topo, HostId source, HostId destination, std::uint32_t per_plane,
                            std::span<const SlowEvs> slow = {});

}  // namespace mrc::topo
