// `mrc sim` alone, without the rest of the command: what the performance log measures and what profilers look
// at.
#include <CLI/CLI.hpp>

#include "tools/commands.h"

int main(int argc, char** argv) {
  CLI::App app("the simulator by itself", "sim_bench");
  const mrc::tools::Run run = mrc::tools::sim(app);
  CLI11_PARSE(app, argc, argv);
  return run();
}
