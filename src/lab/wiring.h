// A topology made of namespaces and virtual cables: each node a kernel of its own, configured as topo says.
#pragma once

#include <set>
#include <vector>

#include "base/result.h"
#include "lab/host_paths.h"
#include "lab/namespaces.h"
#include "lab/switch_plan.h"
#include "topo/node_config.h"
#include "topo/topo.h"

namespace mrc::lab {

/// The kernel's index of a node's port: ours to choose, 1 is the loopback.
constexpr unsigned interface_index(std::uint32_t port) { return port + 2; }

/// Segment ids belong to a node, not to a cable: they hang on an interface that nobody pulls.
inline constexpr const char* kSidInterface = "sid";
inline constexpr unsigned kSidIndex = 100'000;

struct WiringSettings {
  std::uint32_t mtu = 9000;
  AutoEvs auto_evs;
  std::set<topo::Tier> soft;  // tiers whose switches are ours instead of the kernel's
  SwitchTuning tuning;        // of those
  bool direct = false;  // direct uSID addressing: a host's segment id is its own address, not a decapsulator
  std::uint64_t shape_below = 20'000'000'000;  // links at least so fast are left as fast as the machine is
  Shaping shaping;                             // of the others, where the kernel does it
};

/// All nodes of a running fabric. What it holds vanishes with it, and with the process.
class Wiring {
 public:
  /// Leaves the process in some node's namespace.
  static Result<Wiring> make(const topo::Topology& topo, const WiringSettings& settings);

  const topo::Topology& topology() const { return topo_; }
  const WiringSettings& settings() const { return settings_; }
  int space(topo::Node node) const { return nodes_[number(node)].space.get(); }
  bool is_soft(topo::Node node) const { return settings_.soft.contains(node.tier); }
  int netlink(topo::Node node) const { return nodes_[number(node)].netlink.get(); }
  /// Every node in turn: hosts, then switches.
  std::vector<topo::Node> nodes() const;
  /// Brings up a node's interfaces but those of `down`, and writes addresses, neighbours and routes; again
  /// after one of its interfaces was down, because the kernel forgets what led through it.
  Status configure(topo::Node node, const std::set<std::uint32_t>& down = {}) const;

 private:
  Wiring(const topo::Topology& topo, const WiringSettings& settings) : topo_(topo), settings_(settings) {}
  std::size_t number(topo::Node node) const;
  Status add_nodes();
  Status add_cables();
  Status bring_up(topo::Node node, const std::set<std::uint32_t>& down) const;

  topo::Topology topo_;
  WiringSettings settings_;
  std::vector<NetworkNamespace> nodes_;
};

}  // namespace mrc::lab
