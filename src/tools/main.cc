// `mrc`: the one command of OpenMRC. What it can do is listed in commands.h.
#include "tools/commands.h"

int main(int argc, char** argv) { return mrc::tools::run_command(argc, argv); }
