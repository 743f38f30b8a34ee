#include "topo/template.h"

#include <bit>

namespace mrc::topo {
namespace {

/// The bits of a uSID in which two plans of choices differ: the plane, and the index where the choice picks
/// the switch.
std::uint16_t varying_bits(const Topology& topo, Tier tier, std::uint32_t chosen_count) {
  const UsidPlan& plan = topo.usid_plan();
  const int index_bits = plan.index_bits(tier);
  const std::uint32_t plane = ((1u << plan.plane_bits()) - 1) << index_bits;
  const std::uint32_t index = chosen_count <= 1 ? 0 : (1u << std::bit_width(chosen_count - 1)) - 1;
  return static_cast<std::uint16_t>(plane | index);
}

/// Bits of the index that the row's T1s or T2s take on. Where the pod's first index is not aligned, carries
/// reach further.
std::uint32_t span_of(std::uint32_t first, std::uint32_t count) {
  std::uint32_t differing = 0;
  for (std::uint32_t i = 1; i < count; ++i) differing |= first ^ (first + i);
  return differing == 0 ? 1 : std::bit_ceil(differing + 1);
}

std::uint16_t mask_at(const Topology& topo, const Path& p, int position) {
  if (position >= p.switch_count) return varying_bits(topo, Tier::host, 1);
  const Spec& s = topo.spec();
  const Node n = p.switches[position];
  switch (n.tier) {
    case Tier::t1: return varying_bits(topo, Tier::t1, span_of(n.index / s.t1 * s.t1, s.t1));
    case Tier::t2: return varying_bits(topo, Tier::t2, span_of(0, s.t1 * s.t2));
    default: return varying_bits(topo, n.tier, 1);
  }
}

}  // namespace

int Template::ev_bits() const {
  int bits = 0;
  for (const TemplateField& f : fields) bits += std::popcount(f.mask);
  return bits;
}

// MRC-FAB-005: what all EVs to this destination share, with holes for what an EV says.
Template row_template(const Topology& topo, HostId source, HostId destination) {
  Template t;
  const Ipv6Prefix& locator = topo.spec().locator;
  for (int bit = 0; bit < locator.length; bit += 16)
    t.fields.push_back({16, locator.address.group(bit / 16), 0});
  const Path p = topo.path(source, destination, Choice{});
  const UsidList list = topo.usids(p);
  for (int i = 0; i < topo.usids_per_carrier(); ++i) {
    if (i >= list.count) {
      t.fields.push_back({16, 0, 0});
      continue;
    }
    const std::uint16_t mask = mask_at(topo, p, i);
    t.fields.push_back({16, static_cast<std::uint32_t>(list.usids[i].value & ~mask), mask});
  }
  return t;
}

std::uint64_t profile_value(const Topology& topo, const Template& t, HostId source, HostId destination,
                            const Choice& c) {
  const Ipv6 carrier = topo.carriers(topo.usids(topo.path(source, destination, c))).addresses[0];
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < t.fields.size(); ++i) {
    for (int bit = 15; bit >= 0; --bit) {
      if ((t.fields[i].mask >> bit & 1) != 0)
        value = value << 1 | (carrier.group(static_cast<int>(i)) >> bit & 1);
    }
  }
  return value;
}

Ipv6 expand(const Template& t, std::uint64_t value) {
  Ipv6 out;
  int left = t.ev_bits();
  for (std::size_t i = 0; i < t.fields.size(); ++i) {
    std::uint32_t group = t.fields[i].init;
    for (int bit = 15; bit >= 0; --bit) {
      if ((t.fields[i].mask >> bit & 1) != 0)
        group = (group & ~(1u << bit)) | static_cast<std::uint32_t>(value >> --left & 1) << bit;
    }
    out.set_group(static_cast<int>(i), static_cast<std::uint16_t>(group));
  }
  return out;
}

}  // namespace mrc::topo
