// The socket file at which mrcd listens, and the lock that keeps a second mrcd away from it.
#pragma once

#include <string>

#include "base/result.h"
#include "port/fd.h"

namespace mrc::daemon {

/// Makes the folder when it is missing (0755), takes over the file of a mrcd that has died. EADDRINUSE: one
/// lives. A name that begins with @ has no file: it is gone with the mrcd that took it.
Result<port::Fd> listen_at(const std::string& path, unsigned mode);
/// The socket that systemd opened for us, when it did (LISTEN_FDS); else none.
port::Fd inherited_socket();
/// Beside the socket of a user, or in /var/lib/openmrc.
std::string default_state_file(const std::string& socket);

}  // namespace mrc::daemon
