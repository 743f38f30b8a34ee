// Names that stay: the same in tools, logs, configurations, the simulator's reports and on the page.
#include <charconv>

#include "topo/topo.h"

namespace mrc::topo {
namespace {

/// Takes a decimal number without leading zeros off the front of `text`.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::uint32_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::size_t length = static_cast<std::size_t>(stop - text.data());
  if (error != std::errc{} || (text[0] == '0' && length > 1)) return std::nullopt;
  text.remove_prefix(length);
  return value;
}

bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

/// p<plane>.t<tier>.<index>, form only.
std::optional<Node> parse_switch(std::string_view text) {
  if (!take(text, "p")) return std::nullopt;
  const auto plane = take_number(text);
  if (!plane || *plane >= static_cast<std::uint32_t>(kMaxPorts) || !take(text, ".t")) return std::nullopt;
  const auto tier = take_number(text);
  if (!tier || *tier > 2 || !take(text, ".")) return std::nullopt;
  const auto index = take_number(text);
  if (!index || !text.empty()) return std::nullopt;
  return switch_node(*plane, static_cast<Tier>(*tier + 1), *index);
}

}  // namespace

std::string Topology::name(Node n) const {
  if (n.tier == Tier::host) return "h" + std::to_string(n.index);
  const int tier = static_cast<int>(n.tier) - 1;
  return "p" + std::to_string(n.plane) + ".t" + std::to_string(tier) + "." + std::to_string(n.index);
}

std::string Topology::name(LinkId l) const {
  const Ends e = ends(l);
  return name(e.lower.node) + "-" + name(e.upper.node);
}

std::string Topology::name(Hop h) const { return name(sender(h).node) + ">" + name(receiver(h).node); }

std::string Topology::port_name(Attachment a) const {
  if (a.node.tier == Tier::host) return "p" + std::to_string(a.port);
  const std::uint32_t down = downlinks(a.node);
  return a.port < down ? "d" + std::to_string(a.port) : "u" + std::to_string(a.port - down);
}

std::optional<Node> Topology::find_node(std::string_view text) const {
  if (take(text, "h")) {
    const auto index = take_number(text);
    if (!index || !text.empty() || *index >= hosts()) return std::nullopt;
    return host_node(HostId(*index));
  }
  const auto n = parse_switch(text);
  if (!n || n->plane >= planes() || n->index >= switches(n->tier)) return std::nullopt;
  return n;
}

std::optional<Hop> Topology::find_hop(std::string_view text) const {
  const auto arrow = text.find('>');
  if (arrow == std::string_view::npos) return std::nullopt;
  const auto from = find_node(text.substr(0, arrow)), to = find_node(text.substr(arrow + 1));
  if (!from || !to || from->tier == to->tier) return std::nullopt;
  const bool up = from->tier < to->tier;
  const Node lower = up ? *from : *to, upper = up ? *to : *from;
  const std::uint32_t first = lower.tier == Tier::host ? upper.plane : downlinks(lower);
  const std::uint32_t last = lower.tier == Tier::host ? upper.plane + 1u : ports(lower);
  for (std::uint32_t port = first; port < last; ++port) {
    const auto other = peer({lower, port});
    if (other && other->node == upper)
      return Hop{*link_at({lower, port}), up ? Direction::up : Direction::down};
  }
  return std::nullopt;
}

std::optional<LinkId> Topology::find_link(std::string_view text) const {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  std::string one_way(text);
  one_way[dash] = '>';
  const auto hop = find_hop(one_way);
  return hop ? std::optional(hop->link) : std::nullopt;
}

}  // namespace mrc::topo
