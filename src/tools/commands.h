// The nouns of the command `mrc`: one row here, one function in src/tools/<noun>.cc.
//
// A noun's function describes its options on the CLI::App that it is given and returns what to run once they
// are parsed. Options live in a std::shared_ptr that the returned function keeps. Every noun sets a footer
// with an example, and offers --json where it prints data (tools_test looks at each --help for the example).
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace mrc::tools {

inline constexpr int kUsageError = 2;

/// What a parsed command does; returns the exit status: 0 done, 1 failed (with a sentence on stderr),
/// kUsageError.
using Run = std::function<int()>;

// clang-format off
#define MRC_COMMANDS(X) /* in alphabetical order */ \
  X(bench, "figures that the engine promises, measured") \
  X(collective, "all-reduce and all-to-all between processes or hosts, checked and measured") \
  X(conform, "which requirements a device breaks, with the packets that show it") \
  X(ctl, "a node: devices, ports, profiles, EVs, probes, events") \
  X(dump, "what a capture holds, packet by packet") \
  X(exec, "a program that sees the soft device") \
  X(lab, "a multi-plane SRv6 fabric of kernels on this machine") \
  X(manual, "man pages and shell completion") \
  X(map, "which link or switch is broken or lossy, from probes of the hosts") \
  X(pair, "two endpoints over a bad network, in virtual time") \
  X(perf, "bandwidth, latency and message rate of writes between two hosts") \
  X(sim, "a fabric of any size with its NICs and traffic, in simulated time") \
  X(storm, "seeded worlds of trouble, for two engines or a fabric, judged by oracles") \
  X(top, "devices, ports, planes and queue pairs, live in a terminal") \
  X(topo, "a fabric as numbers: describe, check, draw, emit") \
  X(version, "what this build is") \
  X(web, "a page that shows a fabric at work, to break and heal by clicking")
// clang-format on

#define MRC_COMMAND_DECLARATION(noun, summary) Run noun(CLI::App& app);
MRC_COMMANDS(MRC_COMMAND_DECLARATION)
#undef MRC_COMMAND_DECLARATION

/// `switch` is a word of the language, so this noun's function has another name.
Run switch_noun(CLI::App& app);

struct Command {
  const char* noun;
  const char* summary;
  Run (*describe)(CLI::App& app);
};

inline constexpr Command kCommands[] = {
#define MRC_COMMAND_ROW(noun, summary) {#noun, summary, noun},
    MRC_COMMANDS(MRC_COMMAND_ROW)
#undef MRC_COMMAND_ROW
        {"switch", "the fabric's switch on real interfaces: SRv6, ECN, trimming", switch_noun},
};

/// Parses `argv` and runs the noun that it names. `mrc` without arguments prints the help.
int run_command(int argc, const char* const* argv);

}  // namespace mrc::tools
