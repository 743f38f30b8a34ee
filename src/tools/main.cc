// `mrc`: the one command of OpenMRC. What it can do is listed in commands.h.
#include "tools/commands.h"
#include "tools/interruption.h"

int main(int argc, char** argv) {
  using namespace mrc::tools;
  const int status = run_command(argc, argv);
  if (interruption() != 0 && status == interrupted_status()) end_interrupted();
  return status;
}
