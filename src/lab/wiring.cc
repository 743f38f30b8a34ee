#include "lab/wiring.h"

#include "topo/emit.h"

namespace mrc::lab {
namespace {

using topo::Node;
using topo::Tier;

/// Nothing that a lab's kernels would do by themselves: no addresses, no router solicitations, no asking who
/// has an address, no forgetting of addresses when a cable is pulled.
Status quiet(bool forwards) {
  const std::string base = "net/ipv6/conf/";
  for (const char* which : {"default/", "all/"}) {
    for (const auto& [name, value] : {std::pair{"accept_dad", "0"},
                                      {"accept_ra", "0"},
                                      {"autoconf", "0"},
                                      {"keep_addr_on_down", "1"},
                                      {"seg6_enabled", "1"},
                                      {"forwarding", forwards ? "1" : "0"}}) {
      if (auto done = write_setting(base + which + name, value); !done) return done;
    }
  }
  return write_setting(base + "default/addr_gen_mode", "1");
}

Status set_up_node(const NetworkNamespace& node, bool forwards, const std::string& name) {
  if (auto done = quiet(forwards); !done) return done;
  Messages out;
  set_link(out, 1, true);
  const CableEnd sid{kSidInterface, kSidIndex, {2, 0xFF, 0, 0, 0, 1}, node.space.get()};
  const CableEnd other{"sid.end", kSidIndex + 1, {2, 0xFF, 0, 0, 0, 2}, node.space.get()};
  add_cable(out, sid, other, 1500);
  set_link(out, sid.index, true);
  set_link(out, other.index, true);
  return apply(node.netlink.get(), out.take(), name + ": bring up the loopback");
}

/// The part of a configuration that these interfaces have no part in.
topo::NodeConfig without(topo::NodeConfig config, const std::set<std::uint32_t>& down) {
  std::set<std::string> names;
  for (const auto& i : config.interfaces) {
    if (down.contains(i.port)) names.insert(i.name);
  }
  std::erase_if(config.interfaces, [&](const auto& i) { return down.contains(i.port); });
  for (auto& sid : config.sids) sid.interface = kSidInterface;
  for (auto* routes : {&config.sid_routes, &config.plain_routes}) {
    for (auto& route : *routes)
      std::erase_if(route.next_hops, [&](const auto& hop) { return names.contains(hop.interface); });
    std::erase_if(*routes, [](const auto& route) { return route.next_hops.empty(); });
  }
  return config;
}

}  // namespace

std::size_t Wiring::number(Node node) const {
  return node.tier == Tier::host ? node.index : topo_.hosts() + topo_.switch_number(node);
}

std::vector<Node> Wiring::nodes() const {
  std::vector<Node> all;
  for (std::uint32_t h = 0; h < topo_.hosts(); ++h) all.push_back(topo::host_node(topo::HostId(h)));
  for (std::uint32_t s = 0; s < topo_.switches(); ++s) all.push_back(topo_.switch_at(s));
  return all;
}

Status Wiring::add_nodes() {
  for (const Node node : nodes()) {
    auto made = make_network_namespace();
    if (!made) return made.error();
    if (auto done = set_up_node(*made, node.tier != Tier::host && !is_soft(node), topo_.name(node)); !done)
      return done;
    nodes_.push_back(*std::move(made));
  }
  return Done{};
}

Status Wiring::add_cables() {
  const auto end = [&](const topo::Attachment& a) {
    return CableEnd{topo_.port_name(a), interface_index(a.port), topo_.mac(a), space(a.node)};
  };
  for (std::uint32_t l = 0; l < topo_.links(); ++l) {
    const topo::Ends ends = topo_.ends(topo::LinkId(l));
    Messages out;
    add_cable(out, end(ends.lower), end(ends.upper), settings_.mtu);
    const std::string doing = "make the cable " + topo_.name(topo::LinkId(l));
    if (auto done = apply(netlink(ends.lower.node), out.take(), doing); !done) return done;
  }
  return Done{};
}

/// A soft node's kernel only holds the interfaces.
Status Wiring::bring_up(Node node, const std::set<std::uint32_t>& down) const {
  Messages out;
  for (std::uint32_t port = 0; port < topo_.ports(node); ++port) {
    if (topo_.link_at({node, port}) && !down.contains(port)) set_link(out, interface_index(port), true);
  }
  return apply(netlink(node), out.take(), "bring up " + topo_.name(node));
}

Status Wiring::configure(Node node, const std::set<std::uint32_t>& down) const {
  if (is_soft(node)) return bring_up(node, down);
  topo::NodeConfig config = without(node_config(topo_, node), down);
  if (settings_.direct && node.tier == Tier::host) config.sids.clear();
  const auto index_of = [&](const std::string& name) {
    for (const auto& i : config.interfaces) {
      if (i.name == name) return interface_index(i.port);
    }
    return name == kSidInterface ? kSidIndex : 0u;
  };
  const auto batch = emit_netlink(config, index_of);
  if (!batch) return batch.error();
  const std::string doing = "configure " + config.name;
  if (auto done = apply(netlink(node), *batch, doing); !done) return done;
  Messages out;
  for (const auto& i : config.interfaces)
    add_neighbour(out, interface_index(i.port), i.peer_link_local, i.peer_mac);
  for (topo::Plane p = 0; settings_.direct && node.tier == Tier::host && p < topo_.planes(); ++p)
    add_local_prefix(out, topo_.sid(topo::HostId(node.index), p));
  if (node.tier == Tier::host) add_path_routes(out, topo_, topo::HostId(node.index), down);
  return apply(netlink(node), out.take(), doing);
}

Result<Wiring> Wiring::make(const topo::Topology& topo, const WiringSettings& settings) {
  Wiring wiring(topo, settings);
  if (auto done = wiring.add_nodes(); !done) return done.error();
  if (auto done = wiring.add_cables(); !done) return done.error();
  for (const Node node : wiring.nodes()) {
    if (auto done = wiring.configure(node); !done) return done.error();
    if (node.tier != Tier::host) continue;
    Messages rules;
    add_path_rules(rules, topo, settings.auto_evs);
    if (auto done = apply(wiring.netlink(node), rules.take(), "path rules"); !done) return done.error();
  }
  return wiring;
}

}  // namespace mrc::lab
