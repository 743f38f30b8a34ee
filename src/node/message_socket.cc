#include "node/message_socket.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "port/local_socket.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

namespace mrc::node {
namespace {

constexpr const char* kSystemSocket = "/run/openmrc/mrcd.sock";
constexpr std::size_t kReadBytes = 64 << 10;

std::string user_socket() {
  const char* folder = std::getenv("XDG_RUNTIME_DIR");
  return folder != nullptr && *folder == '/' ? std::string(folder) + "/openmrc/mrcd.sock" : std::string();
}

}  // namespace

void MessageSocket::close() {
  fd_.reset();
  out_.clear();
  sent_ = 0;
  beside_.reset();
  received_.reset();
  in_.clear();
}

void MessageSocket::queue(const Message& message, port::Fd beside) {
  emit_message(message, out_);
  if (beside) beside_ = std::move(beside);
}

bool MessageSocket::flush() {
  while (queued() > 0) {
    iovec piece{out_.data() + sent_, queued()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    if (beside_) {
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      cmsghdr* header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(sizeof(int));
      const int descriptor = beside_.get();
      std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    }
    const ssize_t n = ::sendmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    beside_.reset();
    sent_ += static_cast<std::size_t>(n);
  }
  out_.clear();
  sent_ = 0;
  return true;
}

bool MessageSocket::receive() {
  std::uint8_t bytes[kReadBytes];
  iovec piece{bytes, sizeof bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t n = ::recvmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(c) + i * sizeof(int), sizeof descriptor);
      received_ = port::Fd(descriptor);
    }
  }
  in_.append(std::span(bytes, static_cast<std::size_t>(n)));
  return n > 0;
}

std::string daemon_socket() {
  if (const char* named = std::getenv("MRC_SOCKET"); named != nullptr) return named;
  const std::string user = user_socket();
  struct stat unused;
  return !user.empty() && ::stat(user.c_str(), &unused) == 0 ? user : kSystemSocket;
}

Result<std::string> own_daemon_socket() {
  if (const char* named = std::getenv("MRC_SOCKET"); named != nullptr && *named != '\0')
    return std::string(named);
  if (::geteuid() == 0) return std::string(kSystemSocket);
  if (const auto user = user_socket(); !user.empty()) return user;
  return Error{ENOENT, "where to listen? XDG_RUNTIME_DIR is not set: say --socket PATH or set MRC_SOCKET"};
}

Result<LocalAddress> local_address(const std::string& path) {
  LocalAddress out;
  out.address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof out.address.sun_path)
    return Error{ENAMETOOLONG, "the path of a socket has 1 to 107 characters: '" + path + "'"};
  std::memcpy(out.address.sun_path, path.data(), path.size());
  out.size = sizeof out.address;
  if (path[0] == '@') {
    out.address.sun_path[0] = '\0';
    out.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  }
  return out;
}

Result<port::Fd> connect_daemon(const std::string& path) {
  if (path.empty()) return Error{ENOENT, "MRC_SOCKET is empty: no mrcd is to be used"};
  const auto at = local_address(path);
  if (!at) return at.error();
  port::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return port::errno_error("open a local socket");
  // Only connect() may wait, and only while more are connecting than the kernel queues.
  const timeval patience{.tv_sec = 2, .tv_usec = 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&at->address), at->size) < 0) {
    const int error = errno;
    return Error{error, "no mrcd answers at " + path + " (" + std::strerror(error) + ")"};
  }
  const auto peer = port::peer_of(fd.get());
  if (!peer || !port::is_trusted(*peer))
    return Error{EPERM, "who listens at " + path + " is neither root nor this user: not used"};
  return fd;
}

Error different_versions(std::uint32_t of_mrcd, std::uint32_t of_program) {
  return {EPROTONOSUPPORT, "this mrcd speaks another version of the protocol (" + std::to_string(of_mrcd) +
                               ", this program " + std::to_string(of_program) +
                               "): install both from one release"};
}

std::uint64_t network_of(int socket) {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  return ::getsockopt(socket, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

std::uint64_t own_network() {
  const port::Fd own(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return network_of(own.get());
}

}  // namespace mrc::node
