// A frame whose headers stand once before several UDP payloads, as a kernel hands over what it would have
// segmented later: where its packets are, and headers for each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "wire/bytes.h"

namespace mrc::lab {

struct Segments {
  std::uint16_t first_ip = 0;  // offsets into the frame: of the outermost IPv6 header,
  std::uint16_t last_ip = 0;   // of the innermost (the same when nothing is encapsulated),
  std::uint16_t udp = 0;       // and of the UDP header
  std::uint32_t payload = 0;   // offset of the first payload
  std::uint32_t bytes = 0;     // of all payloads together
  std::uint32_t each = 0;      // of one; the last may be shorter
  std::uint32_t count = 0;

  std::uint32_t offset(std::uint32_t i) const { return payload + i * each; }
  std::uint32_t size(std::uint32_t i) const { return i + 1 < count ? each : bytes - i * each; }
};

/// `head`: the beginning of a frame of `frame_bytes`, with all its headers. Nothing: it is not UDP over IPv6,
/// also in IPv6 or behind a segment routing header, or it lies about its lengths.
std::optional<Segments> find_segments(wire::Bytes head, std::size_t frame_bytes, std::uint32_t each);
/// The same from the IPv6 header on: offsets are into the packet.
std::optional<Segments> find_ip_segments(wire::Bytes head, std::size_t packet_bytes, std::uint32_t each);

/// Makes headers that were written for the whole those of one packet: lengths, and the pseudo-header's sum in
/// the checksum field, which a device that is asked for checksums adds the rest to.
void write_segment_head(wire::MutableBytes head, const Segments& s, std::uint32_t payload_bytes);

}  // namespace mrc::lab
