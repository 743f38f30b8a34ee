// Answers to "who has this address?": what a switch without an IP stack must say so that kernels send to it.
#pragma once

#include <cstddef>

#include "base/ipv6.h"
#include "wire/address.h"
#include "wire/bytes.h"

namespace mrc::lab {

/// If `frame` is a neighbour solicitation for `own`, writes the advertisement that answers it and returns its
/// size; else 0. `out` needs kNeighbourAnswerBytes.
inline constexpr std::size_t kNeighbourAnswerBytes = 14 + 40 + 32;
std::size_t answer_solicitation(wire::Bytes frame, const Ipv6& own, const wire::MacAddress& mac,
                                wire::MutableBytes out);

}  // namespace mrc::lab
