// How a controller proves that it has CAP_NET_ADMIN over mrcd's network namespace.
//
// Credentials of a connection tell users, not capabilities, and what /proc says of a process may be true of
// another program by the time it is read. So mrcd names two buffer sizes beyond what the system lets anybody
// set, and the controller shows a socket that has them: only SO_RCVBUFFORCE and SO_SNDBUFFORCE make one, and
// the kernel allows those to CAP_NET_ADMIN alone. See docs/decisions/0020-mrcd.md.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "port/fd.h"

namespace mrc::node {

struct Challenge {
  std::uint32_t receive = 0, send = 0;  // bytes; 0: this system sets no limit that could prove anything
};

Challenge make_challenge();
/// EPERM without the capability.
Result<port::Fd> make_proof(const Challenge& challenge);
bool proves(int socket, const Challenge& challenge);

}  // namespace mrc::node
