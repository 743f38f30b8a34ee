// Counts and cables: how many of what, and who is wired to whom.
#include "topo/topo.h"

#include <bit>

#include "topo/limits.h"

namespace mrc::topo {
namespace {

int bits_for(std::uint32_t count) { return count <= 1 ? 0 : static_cast<int>(std::bit_width(count - 1)); }

}  // namespace

Result<Topology> Topology::make(const Spec& spec) {
  auto checked = check(spec);
  if (!checked) return checked.error();
  return Topology(*checked);
}

Topology::Topology(const Spec& s) : spec_(s), usid_plan_(s.planes) {
  per_plane_ = {s.hosts, s.pods * s.t0, s.pods * s.t1, s.t1 * s.t2};
  first_t1_t2_ = s.hosts + switches(Tier::t0) * s.t1;
  links_per_plane_ = first_t1_t2_ + switches(Tier::t1) * s.t2;
  uplink0_count_ = s.t1 == 0 ? 1 : s.t1;
  uplink1_count_ = s.t2 == 0 ? 1 : s.t2;
  plane_bits_ = bits_for(s.planes);
  uplink0_bits_ = bits_for(uplink0_count_);
  uplink1_bits_ = bits_for(uplink1_count_);
}

std::uint32_t Topology::downlinks(Node n) const {
  switch (n.tier) {
    case Tier::host: return 0;
    case Tier::t0: return spec_.hosts_per_t0;
    case Tier::t1: return spec_.t0;
    case Tier::t2: return spec_.pods;
  }
  return 0;
}

std::uint32_t Topology::ports(Node n) const {
  switch (n.tier) {
    case Tier::host: return spec_.planes;
    case Tier::t0: return spec_.hosts_per_t0 + spec_.t1;
    case Tier::t1: return spec_.t0 + spec_.t2;
    case Tier::t2: return spec_.pods;
  }
  return 0;
}

std::optional<HostId> Topology::host_under(std::uint32_t t0, std::uint32_t downlink) const {
  if (t0 >= switches(Tier::t0) || downlink >= spec_.hosts_per_t0) return std::nullopt;
  const HostId h(t0 * spec_.hosts_per_t0 + downlink);
  return h.value < hosts() ? std::optional(h) : std::nullopt;
}

std::uint32_t Topology::switch_number(Node s) const {
  std::uint32_t first = s.plane * switches_per_plane();
  if (s.tier >= Tier::t1) first += switches(Tier::t0);
  if (s.tier >= Tier::t2) first += switches(Tier::t1);
  return first + s.index;
}

Node Topology::switch_at(std::uint32_t number) const {
  const Plane plane = number / switches_per_plane();
  std::uint32_t index = number % switches_per_plane();
  for (const Tier tier : {Tier::t0, Tier::t1}) {
    if (index < switches(tier)) return switch_node(plane, tier, index);
    index -= switches(tier);
  }
  return switch_node(plane, Tier::t2, index);
}

LinkKind Topology::kind(LinkId l) const {
  const std::uint32_t within = l.value % links_per_plane_;
  if (within < hosts()) return LinkKind::host_t0;
  return within < first_t1_t2_ ? LinkKind::t0_t1 : LinkKind::t1_t2;
}

const LinkSpec& Topology::link_spec(LinkId l) const {
  switch (kind(l)) {
    case LinkKind::host_t0: return spec_.host_link;
    case LinkKind::t0_t1: return spec_.t0_t1;
    case LinkKind::t1_t2: break;
  }
  return spec_.t1_t2;
}

Ends Topology::ends(LinkId l) const {
  const Plane p = plane(l);
  const std::uint32_t within = l.value % links_per_plane_;
  if (within < hosts()) {
    const HostId h(within);
    return {{host_node(h), p}, {switch_node(p, Tier::t0, t0_of(h)), downlink_of(h)}};
  }
  if (within < first_t1_t2_) {
    const std::uint32_t t0 = (within - hosts()) / spec_.t1, uplink = (within - hosts()) % spec_.t1;
    const std::uint32_t t1 = pod_of_t0(t0) * spec_.t1 + uplink;
    return {{switch_node(p, Tier::t0, t0), spec_.hosts_per_t0 + uplink},
            {switch_node(p, Tier::t1, t1), t0 % spec_.t0}};
  }
  const std::uint32_t t1 = (within - first_t1_t2_) / spec_.t2, uplink = (within - first_t1_t2_) % spec_.t2;
  const std::uint32_t t2 = t1 % spec_.t1 * spec_.t2 + uplink;
  return {{switch_node(p, Tier::t1, t1), spec_.t0 + uplink}, {switch_node(p, Tier::t2, t2), t1 / spec_.t1}};
}

std::optional<LinkId> Topology::link_at(Attachment a) const {
  const auto& [node, port] = a;
  if (port >= ports(node)) return std::nullopt;
  const Plane p = node.plane;
  switch (node.tier) {
    case Tier::host: return host_link(HostId(node.index), port);
    case Tier::t0: {
      if (port >= spec_.hosts_per_t0) return t0_t1_link(p, node.index, port - spec_.hosts_per_t0);
      const auto h = host_under(node.index, port);
      return h ? std::optional(host_link(*h, p)) : std::nullopt;
    }
    case Tier::t1: {
      if (port >= spec_.t0) return t1_t2_link(p, node.index, port - spec_.t0);
      const std::uint32_t pod = node.index / spec_.t1;
      return t0_t1_link(p, pod * spec_.t0 + port, node.index % spec_.t1);
    }
    case Tier::t2: return t1_t2_link(p, port * spec_.t1 + node.index / spec_.t2, node.index % spec_.t2);
  }
  return std::nullopt;
}

std::optional<Attachment> Topology::peer(Attachment a) const {
  const auto link = link_at(a);
  if (!link) return std::nullopt;
  const Ends e = ends(*link);
  return e.lower == a ? e.upper : e.lower;
}

std::optional<Hop> Topology::hop_from(Attachment a) const {
  const auto link = link_at(a);
  if (!link) return std::nullopt;
  const bool up = a.node.tier == Tier::host || a.port >= downlinks(a.node);
  return Hop{*link, up ? Direction::up : Direction::down};
}

Attachment Topology::sender(Hop h) const {
  const Ends e = ends(h.link);
  return h.direction == Direction::up ? e.lower : e.upper;
}

Attachment Topology::receiver(Hop h) const {
  const Ends e = ends(h.link);
  return h.direction == Direction::up ? e.upper : e.lower;
}

}  // namespace mrc::topo
