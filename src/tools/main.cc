// `mrc`: the one command of OpenMRC. What it can do is listed in commands.h.
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tools/commands.h"
#include "tools/interruption.h"

namespace {

/// A full disk behind standard output shows only when what is buffered is written.
bool said_everything() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  std::fprintf(stderr, "mrc: standard output is not whole: %s\n", std::strerror(errno));
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace mrc::tools;
  const int status = run_command(argc, argv);
  const bool whole = said_everything();
  if (interruption() != 0 && status == interrupted_status()) end_interrupted();
  return status == 0 && !whole ? 1 : status;
}
