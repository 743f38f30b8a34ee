#include "lab/channel.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace mrc::lab {
namespace {

using port::errno_error;

struct Name {
  sockaddr_un address{};
  socklen_t size = 0;
};

Name name_of(const std::string& lab) {
  const std::string text = "mrc-lab-" + std::to_string(::getuid()) + "-" + lab;
  Name name;
  name.address.sun_family = AF_UNIX;
  const std::size_t length = std::min(text.size(), sizeof name.address.sun_path - 1);
  std::memcpy(name.address.sun_path + 1, text.data(), length);
  name.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return name;
}

Fd open_socket() { return Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

bool same_user(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::getuid();
}

Status send_bytes(int fd, const std::string& bytes, const std::vector<int>& descriptors) {
  iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxDescriptors)] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    const std::size_t size = sizeof(int) * descriptors.size();
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(size);
    cmsghdr* c = CMSG_FIRSTHDR(&message);
    *c = {CMSG_LEN(size), SOL_SOCKET, SCM_RIGHTS};
    std::memcpy(CMSG_DATA(c), descriptors.data(), size);
  }
  if (::sendmsg(fd, &message, MSG_NOSIGNAL) < 0) return errno_error("speak to the lab");
  return Done{};
}

void take_descriptors(msghdr& message, std::vector<Fd>& out) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
      out.emplace_back(fd);
    }
  }
}

/// Empty when the other side has gone.
std::string receive_bytes(int fd, std::vector<Fd>& descriptors) {
  std::string bytes(kMaxMessage, '\0');
  iovec piece{bytes.data(), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxDescriptors)];
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t n = 0;
  do {
    n = ::recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  take_descriptors(message, descriptors);
  bytes.resize(n > 0 && (message.msg_flags & MSG_TRUNC) == 0 ? static_cast<std::size_t>(n) : 0);
  return bytes;
}

}  // namespace

Result<Fd> listen_as(const std::string& lab) {
  const Name name = name_of(lab);
  Fd fd = open_socket();
  if (!fd) return errno_error("open a Unix socket");
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&name.address), name.size) != 0) {
    if (errno != EADDRINUSE) return errno_error("bind a Unix socket");
    return Error{EADDRINUSE, "a lab called '" + lab + "' runs already: `mrc lab down --name " + lab +
                                 "` ends it, another --name goes beside it"};
  }
  if (::listen(fd.get(), 16) != 0) return errno_error("listen on a Unix socket");
  return fd;
}

Result<Fd> connect_to(const std::string& lab) {
  const Name name = name_of(lab);
  Fd fd = open_socket();
  if (!fd) return errno_error("open a Unix socket");
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&name.address), name.size) != 0 ||
      !same_user(fd.get()))
    return Error{ENOENT, "no lab called '" + lab + "' runs here; `mrc lab up --name " + lab + "` starts one"};
  return fd;
}

Fd accept_client(int listener) {
  Fd client(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (client && !same_user(client.get())) client.reset();
  return client;
}

Status send_words(int fd, const Words& words) {
  std::string bytes;
  for (const std::string& word : words) bytes += word + '\n';
  if (bytes.size() > kMaxMessage) return Error{E2BIG, "too many words for the lab"};
  return send_bytes(fd, bytes, {});
}

bool receive_words(int fd, Words& out) {
  std::vector<Fd> unwanted;
  const std::string bytes = receive_bytes(fd, unwanted);
  out.clear();
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    out.push_back(bytes.substr(at, end - at));
    at = end + 1;
  }
  return !out.empty();
}

Status send_answer(int fd, const Answer& answer, const std::vector<int>& descriptors) {
  std::string bytes = std::to_string(answer.code) + '\n' + answer.text;
  bytes.resize(std::min(bytes.size(), kMaxMessage));
  return send_bytes(fd, bytes, descriptors);
}

Result<Answer> receive_answer(int fd) {
  Answer answer;
  const std::string bytes = receive_bytes(fd, answer.descriptors);
  const std::size_t line = bytes.find('\n');
  if (line == std::string::npos) return Error{EPIPE, "the lab has ended"};
  answer.code = std::atoi(bytes.c_str());
  answer.text = bytes.substr(line + 1);
  return answer;
}

}  // namespace mrc::lab
