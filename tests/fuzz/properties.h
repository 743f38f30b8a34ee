// What must hold for any bytes at all. One function per fuzz target; a broken property stops the program.
// libFuzzer calls them from target.cc; replay.cc calls the same ones on the stored corpus and on mutations of
// it.
#pragma once

#include <span>
#include <string_view>

#include "wire/bytes.h"

namespace mrc::fuzz {

using Property = void (*)(wire::Bytes input);

/// Frames from Ethernet or IP: parse stays inside, says the same twice, and what it accepts is plausible,
/// adds up, prints, and survives being emitted and parsed again.
void check_l2(wire::Bytes input);
void check_l3(wire::Bytes input);
/// UDP payloads; the first bytes of the input choose what the socket says around them.
void check_datagram(wire::Bytes input);
/// Values first: the input chooses a packet, which must come back from its bytes as it went in.
void check_value(wire::Bytes input);
/// A good packet, then changes to it: refused, or the same packet, or known to be trimmed.
void check_mutation(wire::Bytes input);
/// Switches: any bytes may be marked and trimmed.
void check_trim(wire::Bytes input);
/// A queue pair against a hostile peer: no crash, nothing placed outside what its memory allows, no endless work.
void check_engine(wire::Bytes input);
/// HTTP requests: the same in any pieces, bounded, and no path that climbs.
void check_http(wire::Bytes input);
/// mrcd's socket: what is taken for a message is one, byte for byte, and the rest ends the conversation.
void check_node(wire::Bytes input);
/// A planted mistake. The machinery works when this one is found.
void check_canary(wire::Bytes input);

struct Target {
  std::string_view name;
  Property property;
};
std::span<const Target> targets();

}  // namespace mrc::fuzz
