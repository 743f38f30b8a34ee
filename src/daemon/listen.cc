#include "daemon/listen.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "node/message_socket.h"

namespace mrc::daemon {
namespace {

constexpr int kFirstInherited = 3;  // SD_LISTEN_FDS_START
constexpr int kBacklog = 4096;

Error taken(const std::string& path) {
  return {EADDRINUSE, "another mrcd listens at " + path + ": stop it, or say --socket"};
}

/// Held as long as mrcd lives: says, without asking anybody, whether a socket file is a dead one's.
Status take_lock(const std::string& path) {
  const std::string name = path + ".lock";
  const int fd = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return port::errno_error("open " + name);
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0)
    return Done{};  // never closed: the kernel frees it with the process
  ::close(fd);
  return taken(path);
}

}  // namespace

Result<port::Fd> listen_at(const std::string& path, unsigned mode) {
  const auto at = node::local_address(path);
  if (!at) return at.error();
  const bool file = path[0] != '@';
  if (file) {
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    if (auto locked = take_lock(path); !locked) return locked.error();
    ::unlink(path.c_str());
  }
  port::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return port::errno_error("open a local socket");
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&at->address), at->size) < 0)
    return errno == EADDRINUSE ? taken(path) : port::errno_error("listen at " + path);
  if (file) ::chmod(path.c_str(), mode);
  if (::listen(fd.get(), kBacklog) < 0) return port::errno_error("listen at " + path);
  return fd;
}

port::Fd inherited_socket() {
  const char* pid = std::getenv("LISTEN_PID");
  const char* count = std::getenv("LISTEN_FDS");
  if (pid == nullptr || count == nullptr) return {};
  if (std::atoi(pid) != ::getpid() || std::atoi(count) < 1) return {};
  const int flags = ::fcntl(kFirstInherited, F_GETFL);
  if (flags < 0) return {};
  ::fcntl(kFirstInherited, F_SETFL, flags | O_NONBLOCK);
  ::fcntl(kFirstInherited, F_SETFD, FD_CLOEXEC);
  return port::Fd(kFirstInherited);
}

std::string default_state_file(const std::string& socket) {
  if (socket.starts_with('@')) return {};  // whoever wants no file of the socket wants none of the state
  if (const char* folder = std::getenv("STATE_DIRECTORY"); folder != nullptr && *folder == '/')
    return std::string(folder) + "/mrcd.state";  // systemd made it
  if (socket.starts_with("/run/")) return "/var/lib/openmrc/mrcd.state";
  return socket + ".state";
}

}  // namespace mrc::daemon
