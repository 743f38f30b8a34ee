// What `mrc dump` makes of each frame of a capture: decoded as far as it goes, with a verdict.
#pragma once

#include <string>

#include "tools/capture.h"
#include "wire/codec.h"

namespace mrc::tools {

struct SeenPacket {
  CapturedFrame frame;
  wire::Parsed parsed;
  Verdict verdict = Verdict::ok;
};

/// Not MRC's business: no IP, no UDP, another port. Anything else is shown, however broken.
bool is_foreign(const SeenPacket& seen);
/// Says which packet it is: BTH was read.
bool names_packet(const SeenPacket& seen);

/// Decodes one frame. A wrong checksum keeps its verdict, and the packet is decoded all the same: a capture
/// on the sending side sees checksums that the NIC has yet to fill in, and a reader wants to know what the
/// bytes say.
SeenPacket see(const CapturedFrame& frame, LinkType link, const wire::Settings& settings);

}  // namespace mrc::tools
