// What every accepted packet has in common, whatever bytes it came from.
#pragma once

#include "wire/codec.h"

namespace mrc::fuzz {

/// Stops the program unless `parsed`, with this verdict, makes sense for this input.
void check_parsed(wire::Bytes input, const wire::Parsed& parsed, Verdict verdict);

/// Parse, emit, parse: the second time gives the same packet, path and payload.
void check_stable(const wire::Parsed& parsed, const wire::Settings& settings);

/// The settings under which each input is tried: as shipped, and with every checksum ignored, because
/// otherwise nearly all random bytes stop at the iCRC.
wire::Settings strict();
wire::Settings lax();

}  // namespace mrc::fuzz
