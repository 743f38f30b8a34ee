// For tests and benchmarks: one packet of every kind, with every field set to something that is not its
// default.
#pragma once

#include <vector>

#include "base/prng.h"
#include "wire/codec.h"

namespace mrc::wire::testing {

/// A random packet of the given opcode; fields stay within what the wire can carry.
Packet random_packet(Opcode opcode, Prng& prng);
Envelope random_envelope(const Packet& packet, bool v4, Prng& prng);
Route random_route(Encapsulation encapsulation, Prng& prng);
std::vector<std::uint8_t> random_bytes(std::size_t n, Prng& prng);

inline constexpr Opcode kOpcodes[] = {
    Opcode::write_first, Opcode::write_middle,   Opcode::write_last,       Opcode::write_last_imm,
    Opcode::write_only,  Opcode::write_only_imm, Opcode::transport_ack,    Opcode::sack,
    Opcode::nack,        Opcode::probe,          Opcode::endpoint_request, Opcode::endpoint_response};
inline constexpr Encapsulation kFrames[] = {Encapsulation::ipv4, Encapsulation::ipv6, Encapsulation::srv6,
                                            Encapsulation::srv6_srh};

}  // namespace mrc::wire::testing
