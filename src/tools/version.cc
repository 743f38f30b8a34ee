// `mrc version`: what this build is, for a bug report.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "tools/commands.h"

namespace mrc::tools {

Run version(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "one JSON object");
  app.footer("Example: mrc version --json");
  return [json] {
    const char* format =
        *json ? "{\"version\":\"%s\",\"build\":\"%s\",\"compiler\":\"%s\"}\n" : "mrc %s (%s, %s)\n";
    std::printf(format, MRC_VERSION, MRC_BUILD, MRC_COMPILER);
    return 0;
  };
}

}  // namespace mrc::tools
