// Neighbour discovery for a switch without an IP stack: it answers "who has this address?", so that kernels
// send to it, and asks it, so that it can send to them.
#pragma once

#include <cstddef>

#include "base/ipv6.h"
#include "wire/address.h"
#include "wire/bytes.h"

namespace mrc::lab {

/// If `frame` is a neighbour solicitation for `own`, writes the advertisement that answers it and returns its
/// size; else 0. `out` needs kNeighbourBytes.
inline constexpr std::size_t kNeighbourBytes = 14 + 40 + 32;
std::size_t answer_solicitation(wire::Bytes frame, const Ipv6& own, const wire::MacAddress& mac,
                                wire::MutableBytes out);

/// Writes the question for `target`'s MAC address, asked from `own`. `out` needs kNeighbourBytes.
std::size_t make_solicitation(const Ipv6& target, const Ipv6& own, const wire::MacAddress& mac,
                              wire::MutableBytes out);

}  // namespace mrc::lab
