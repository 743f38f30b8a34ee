// How `mrc dump` shows a packet: one line, in full, or as JSON. The words are wire's; the capture adds its
// own.
#pragma once

#include <string>

#include "tools/dump_input.h"

namespace mrc::tools {

/// Frame number, time since `start`, what the packet says, and the verdict when it is not well. No newline.
std::string dump_line(const SeenPacket& seen, Time start);
/// The line, then every field on a line of its own, indented. Ends with a newline.
std::string dump_full(const SeenPacket& seen, Time start);
/// One JSON object, no newline.
std::string dump_json(const SeenPacket& seen, Time start);

}  // namespace mrc::tools
