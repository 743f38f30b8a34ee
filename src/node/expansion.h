// From an EV to the bits on the wire, by the fields of its profile and the widths of its format.
#pragma once

#include <span>

#include "node/profile_types.h"

namespace mrc::node {

/// 0; EINVAL for fields that do not fit their format or contradict themselves; E2BIG for more than it has.
int check_fields(std::span<const EvField> fields, std::span<const std::uint8_t> widths);

/// 0, E2BIG for more bits than the mode has on the wire, EINVAL for empty fields.
int check_widths(FormatMode mode, std::span<const std::uint8_t> widths, std::uint32_t most_fields);

/// How many of an EV's bits the fields use, from the first on.
std::uint32_t used_bits(std::span<const EvField> fields);

/// No bit set beyond those that the fields use.
bool fits(const EvBits& ev, std::span<const EvField> fields);

/// REQUIRES: check_fields and fits said yes.
EvBits expand(const EvBits& ev, std::span<const EvField> fields, std::span<const std::uint8_t> widths);

/// Fields that take every bit of the format from the EV: what an explicit profile has when the controller
/// names none. Empty when the format has a field of more than 32 bits, which needs a decision.
std::vector<EvField> whole_fields(std::span<const std::uint8_t> widths);

bool bit_at(const EvBits& bits, std::uint32_t index);
void set_bit(EvBits& bits, std::uint32_t index);

/// The first 32 bits as a number: the EV of structured formats, whose bits all fit.
Ev first_word(const EvBits& bits);

}  // namespace mrc::node
