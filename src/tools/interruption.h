// Ctrl-C and SIGTERM for commands whose results so far are worth having: the first one asks, a second one
// ends the process at once.
#pragma once

namespace mrc::tools {

/// From now on the first SIGINT or SIGTERM is only noted.
void heed_interruption();
/// It ends the process again, as in a child whose parent heeds it; one that was noted is forgotten.
void leave_interruption();
/// The signal that came; 0: none.
int interruption();
/// What a command returns that was interrupted: the number by which shells know it.
inline int interrupted_status() { return 128 + interruption(); }
/// Ends the process as the signal would have, so that a shell's loop ends too.
[[noreturn]] void end_interrupted();

}  // namespace mrc::tools
