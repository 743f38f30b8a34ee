// A packet for people: its words, one line, or every field. Allocates; never on a packet's way.
#pragma once

#include <string>
#include <string_view>

#include "wire/codec.h"

namespace mrc::wire {

/// write_first, sack, ...: the names of the enums. "unknown" for values that they do not have.
std::string_view name(Opcode opcode);
std::string_view name(NackReason reason);
std::string_view name(Syndrome syndrome);
std::string_view name(SackMark mark);
std::string_view name(EndpointOp op);
std::string_view name(TrafficClass traffic_class);
std::string_view name(Ecn ecn);
std::string_view name(Encapsulation encapsulation);
std::string_view name(Reached reached);

/// "write_only qp 0x000012 psn 7 1024 B msn 3 rtx": what the transport says.
std::string one_line(const Packet& packet);
/// The same with addresses, EV, class and ECN.
std::string one_line(const Parsed& parsed);
/// Every field, one per line, "header.field = value".
std::string in_full(const Parsed& parsed, Verdict verdict);
/// One JSON object. 64-bit fields are strings "0x...", because many readers hold numbers in doubles.
std::string to_json(const Parsed& parsed, Verdict verdict);

}  // namespace mrc::wire
