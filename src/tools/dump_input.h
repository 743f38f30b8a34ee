// What `mrc dump` makes of each frame of a capture: decoded as far as it goes, with a verdict.
#pragma once

#include <functional>
#include <string>

#include "tools/capture.h"
#include "wire/codec.h"

namespace mrc::tools {

struct SeenPacket {
  CapturedFrame frame;
  wire::Parsed parsed;
  Verdict verdict = Verdict::ok;
  bool unfinished_checksum = false;      // left to the device that sends it: no fault of the packet
  std::uint32_t part = 0, of_parts = 1;  // of the frame: a train has several packets
};

/// Not MRC's business: no IP, no UDP, another port. Anything else is shown, however broken.
bool is_foreign(const SeenPacket& seen);
/// Says which packet it is: BTH was read.
bool names_packet(const SeenPacket& seen);

/// Decodes one frame and hands over its packets: one, or those of a train that a device was to cut. They live
/// until `take` returns. A wrong checksum keeps its verdict, and the packet is decoded all the same: a reader
/// wants to know what the bytes say.
void see_packets(const CapturedFrame& frame, LinkType link, const wire::Settings& settings,
                 const std::function<void(const SeenPacket&)>& take);

}  // namespace mrc::tools
