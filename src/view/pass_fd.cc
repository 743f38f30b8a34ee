#include "view/pass_fd.h"

#include <sys/socket.h>

#include <cstring>

namespace mrc::view {

bool send_fd(int to, int fd) {
  char byte = fd >= 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr m{.msg_iov = &data, .msg_iovlen = 1};
  if (fd >= 0) {
    m.msg_control = space;
    m.msg_controllen = sizeof space;
    cmsghdr* c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(c), &fd, sizeof fd);
  }
  return ::sendmsg(to, &m, MSG_NOSIGNAL) == 1;
}

port::Fd receive_fd(int from) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr m{.msg_iov = &data, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
  if (::recvmsg(from, &m, MSG_CMSG_CLOEXEC) != 1) return {};
  const cmsghdr* c = CMSG_FIRSTHDR(&m);
  if (c == nullptr || c->cmsg_type != SCM_RIGHTS) return {};
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(c), sizeof fd);
  return port::Fd(fd);
}

}  // namespace mrc::view
