// What a switch does to a packet on its way: mark it, trim it. In place, on the outermost IP header.
#pragma once

#include "wire/bytes.h"
#include "wire/packet.h"
#include "wire/settings.h"

namespace mrc::wire {

/// The TOS or traffic class byte of an IP packet; 0 when it is neither IPv4 nor IPv6.
std::uint8_t tos_of(Bytes l3);
void set_tos(MutableBytes l3, std::uint8_t tos);

/// Sets CE, when the sender said that it understands ECN. Says whether it did.
bool mark_ce(MutableBytes l3);

/// What becomes of the length fields of a trimmed packet: kept, as switches leave them, or made true, with
/// the UDP checksum recomputed (none over IPv4), so that a kernel lets the rest through to a socket.
enum class TrimLengths : std::uint8_t { keep, fix };

/// Cuts a packet to at most `size` bytes from its IP header on and gives it the class `to`. Returns the bytes
/// left.
std::size_t trim(MutableBytes l3, std::size_t size, TrafficClass to, const Settings& settings,
                 TrimLengths lengths = TrimLengths::keep);

}  // namespace mrc::wire
