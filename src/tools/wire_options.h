// Command-line options for the wire's settings, the same in every noun that decodes packets.
#pragma once

#include "wire/settings.h"

namespace CLI {
class App;
}

namespace mrc::tools {

/// Adds --udp-port, --dscp-*, --ev-halves, --no-icrc to `app`. `settings` must outlive parsing.
void add_wire_options(CLI::App& app, wire::Settings& settings);

}  // namespace mrc::tools
