// The template of a destination row: how an EV becomes a carrier, in the terms of the controller's EV
// profiles.
//
// A row is what one host needs to reach one destination T0's downlink: all EVs to it share these fields.
// Expansion of a profile EV, per field: start from `init`; the set bits of `mask`, from the most significant
// down, each take the next most significant bit of the EV; concatenate. Plane bits stand in every uSID, so a
// profile EV repeats them; the packet's 32-bit EV does not.
#pragma once

#include <cstdint>
#include <vector>

#include "topo/topo.h"

namespace mrc::topo {

struct TemplateField {
  std::uint32_t width = 0;  // bits
  std::uint32_t init = 0;
  std::uint32_t mask = 0;  // bits that come from the EV
  bool operator==(const TemplateField&) const = default;
};

struct Template {
  std::vector<TemplateField>
      fields;           // 128 bits in all: locator in pieces of at most 32, then uSIDs, zero-filled
  int ev_bits() const;  // set bits of all masks
};

/// REQUIRES: the path to the destination fits one carrier.
Template row_template(const Topology& topo, HostId source, HostId destination);

/// The profile's value for an EV: the bits that the masks take, most significant first, right-aligned.
std::uint64_t profile_value(const Topology& topo, const Template& t, HostId source, HostId destination,
                            const Choice& c);
/// What a provider does with it: the carrier.
Ipv6 expand(const Template& t, std::uint64_t value);

}  // namespace mrc::topo
