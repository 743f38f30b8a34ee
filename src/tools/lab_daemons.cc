// mrcd on the hosts of a lab.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "tools/lab_verbs.h"

namespace mrc::tools {
namespace {

namespace fs = std::filesystem;

/// Beside this command, or where it is installed; else wherever PATH has it.
std::string daemon_program() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& at : {folder / "mrcd", folder.parent_path() / "sbin" / "mrcd"}) {
    if (fs::exists(at, error)) return at;
  }
  return "mrcd";
}

/// mrcd returns when it serves, and stays in the background until the lab ends.
Status start_daemon(lab::Lab& lab, const std::string& program, const std::string& host) {
  const pid_t child = ::fork();
  if (child < 0) return port::errno_error("fork");
  if (child == 0) {  // goes into the lab: this process must not
    const port::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    for (int fd = 0; fd < 3; ++fd) ::dup2(nothing.get(), fd);
    const auto status = lab.execute(host, {program, "--no-state", "--socket", lab::kHostDaemon});
    ::_exit(status ? *status : 1);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status == 0 ? Status(Done{})
                     : Error{EIO, "mrcd does not start on " + host + "; `mrc lab exec " + host +
                                      " -- mrcd --foreground` says why"};
}

}  // namespace

Status start_daemons(lab::Lab& lab, std::uint32_t hosts) {
  const std::string program = daemon_program();
  for (std::uint32_t h = 0; h < hosts; ++h) {
    if (auto started = start_daemon(lab, program, "h" + std::to_string(h)); !started) return started;
  }
  return Done{};
}

}  // namespace mrc::tools
