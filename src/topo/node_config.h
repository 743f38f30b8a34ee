// What one node must be told so that it plays its part: interfaces, segment ids and static routes, free of
// any syntax. The Linux, FRR and SONiC forms (topo/emit.h) and the lab are written from this.
#pragma once

#include <string>
#include <vector>

#include "topo/topo.h"

namespace mrc::topo {

struct InterfaceConfig {
  std::string name;  // as Topology::port_name
  std::uint32_t port = 0;
  Mac mac{};
  Ipv6 link_local;
  std::vector<Ipv6Prefix> addresses;  // of a host: its NIC address, as a /128
  std::uint64_t bits_per_second = 0;
  std::string peer;  // name of the node at the other end
  Ipv6 peer_link_local;
  Mac peer_mac{};
  bool toward_host = false;
};

/// A segment id that ends here. uN: shift and look up again. Decapsulate: the inner packet is for this host.
enum class SidBehavior : std::uint8_t { un, decapsulate };
struct LocalSid {
  Ipv6Prefix prefix;
  SidBehavior behavior = SidBehavior::un;
  std::string interface;  // Linux wants one; for a switch any will do
};

struct NextHop {
  Ipv6 via;
  std::string interface;
};
struct StaticRoute {
  Ipv6Prefix prefix;
  std::vector<NextHop> next_hops;  // more than one: equal shares
};

struct NodeConfig {
  Node node;
  std::string name;
  int locator_bits = 32;
  std::vector<InterfaceConfig> interfaces;
  std::vector<LocalSid> sids;
  std::vector<StaticRoute> sid_routes;    // by uSID
  std::vector<StaticRoute> plain_routes;  // by NIC address: for everything that is not source-routed
};

NodeConfig node_config(const Topology& topo, Node node);

}  // namespace mrc::topo
