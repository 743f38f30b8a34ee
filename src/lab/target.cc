// Names of what can break.
#include <cerrno>
#include <charconv>

#include "lab/faults.h"

namespace mrc::lab {
namespace {

using topo::Attachment;
using topo::Hop;
using topo::LinkId;
using topo::Topology;

void add_hop(Target& out, const Topology& topo, Hop hop) {
  out.senders.push_back(topo.sender(hop));
  out.receivers.push_back(topo.receiver(hop));
}

/// A cable, both ways. It goes down at its upper end: the lower one sees the carrier go.
void add_link(Target& out, const Topology& topo, LinkId link) {
  add_hop(out, topo, {link, topo::Direction::up});
  add_hop(out, topo, {link, topo::Direction::down});
  out.ends.push_back(topo.ends(link).upper);
}

/// A node: all its own ends go down.
void add_node(Target& out, const Topology& topo, topo::Node node) {
  for (std::uint32_t port = 0; port < topo.ports(node); ++port) {
    const auto link = topo.link_at({node, port});
    if (!link) continue;
    add_link(out, topo, *link);
    out.ends.back() = {node, port};
  }
}

void add_plane(Target& out, const Topology& topo, topo::Plane plane) {
  for (std::uint32_t l = 0; l < topo.links_per_plane(); ++l)
    add_link(out, topo, LinkId(plane * topo.links_per_plane() + l));
}

/// "p3" with 3 below the number of planes.
std::optional<topo::Plane> parse_plane(const Topology& topo, std::string_view text) {
  topo::Plane plane = 0;
  if (text.size() < 2 || text[0] != 'p') return std::nullopt;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), plane);
  if (error != std::errc{} || end != text.data() + text.size() || plane >= topo.planes()) return std::nullopt;
  return plane;
}

bool add_nic_port(Target& out, const Topology& topo, std::string_view text) {
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) return false;
  const auto host = topo.find_node(text.substr(0, dot));
  const auto plane = parse_plane(topo, text.substr(dot + 1));
  if (!host || host->tier != topo::Tier::host || !plane) return false;
  add_link(out, topo, topo.host_link(topo::HostId(host->index), *plane));
  out.ends.back() = {*host, *plane};
  return true;
}

}  // namespace

Result<Target> find_target(const Topology& topo, const std::string& name) {
  Target out;
  out.name = name;
  if (const auto link = topo.find_link(name)) {
    add_link(out, topo, *link);
  } else if (const auto hop = topo.find_hop(name)) {
    add_hop(out, topo, *hop);
    out.one_way = true;
  } else if (const auto node = topo.find_node(name)) {
    add_node(out, topo, *node);
  } else if (const auto plane = parse_plane(topo, name)) {
    add_plane(out, topo, *plane);
  } else if (!add_nic_port(out, topo, name)) {
    return Error{EINVAL, "there is no '" + name +
                             "' in this fabric; names are like p0.t0.1-p0.t1.0 (a cable), p0.t0.1>p0.t1.0 "
                             "(one way), p0.t1.0 (a switch), h0 (a host), p0 (a plane), h0.p1 (a NIC port)"};
  }
  return out;
}

}  // namespace mrc::lab
