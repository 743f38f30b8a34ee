#include "port/fd.h"

#include <sys/resource.h>

namespace mrc::port {
namespace {

std::string remedy_of(int code) {
  if (code == ENFILE) return " (all programs of this machine together: raise the sysctl fs.file-max)";
  rlimit limit{};
  if (code != EMFILE || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return "";
  return " (this process may have " + std::to_string(limit.rlim_cur) + ": raise " +
         (limit.rlim_cur < limit.rlim_max ? "ulimit -n)" : "the hard limit of ulimit -n)");
}

}  // namespace

Error errno_error(const std::string& doing, int code) {
  return Error{code, doing + ": " + std::strerror(code) + remedy_of(code)};
}

}  // namespace mrc::port
