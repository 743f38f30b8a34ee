// Namespaces of the calling process: becoming root in one's own user namespace, making network namespaces,
// going into them.
#pragma once

#include <string_view>

#include "base/result.h"
#include "port/fd.h"

namespace mrc::lab {

using port::Fd;

/// Gives the calling process, which must have one thread, the right to make network namespaces, and its
/// children a PID namespace that dies with the first of them. A privileged caller stays in its user
/// namespace. EPERM says what forbids it and what to do.
Status become_keeper();

struct NetworkNamespace {
  Fd space;
  Fd netlink;  // a NETLINK_ROUTE socket that lives in it, wherever the process goes
};
/// How the errors of a machine without namespaces begin.
inline constexpr std::string_view kMachineForbids = "this machine forbids ";

/// Makes one and leaves the process inside it.
Result<NetworkNamespace> make_network_namespace();
Status enter_network_namespace(int space);

/// Writes a file under /proc/sys; the process must be in the namespace that it means.
Status write_setting(const std::string& path, const std::string& value);

}  // namespace mrc::lab
