// What a kernel leaves to the device that sends: checksums, and cutting a train into packets. A capture on
// the way there, or on a veth, which never needs them, shows frames before that is done.
#pragma once

#include <optional>
#include <vector>

#include "lab/segments.h"
#include "tools/dump_input.h"

namespace mrc::tools {

/// The UDP checksum field of this packet holds the sum of the pseudo-header alone, to which a device adds the
/// rest. `ip`: from the IP header on, as `parsed` was read from it.
bool checksum_is_unfinished(Bytes ip, const wire::Parsed& parsed);

/// Several packets behind one set of headers. Nothing: it is one, or cannot be taken apart.
std::optional<lab::Segments> find_train(Bytes ip, const wire::Parsed& parsed);

/// Packet `i` of a train with headers of its own. `link_bytes`: what stands before the IP header of `frame`.
std::vector<std::uint8_t> cut_packet(Bytes frame, std::size_t link_bytes, const lab::Segments& train,
                                     std::uint32_t i);

}  // namespace mrc::tools
