#include "port/local_socket.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>

#include "port/system_calls.h"

namespace mrc::port {
namespace {

constexpr std::size_t kMaxDescriptors = 253;  // SCM_MAX_FD
constexpr int kBacklog = 64;

struct LocalName {
  sockaddr_un address{};
  socklen_t size;

  explicit LocalName(const std::string& name) {
    address.sun_family = AF_UNIX;
    const std::size_t length = std::min(name.size(), sizeof address.sun_path - 1);
    std::memcpy(address.sun_path + 1, name.data(), length);  // a leading zero byte: abstract
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  }
  const sockaddr* any() const { return reinterpret_cast<const sockaddr*>(&address); }
};

Result<Fd> open_local(int type) {
  Fd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return errno_error("open a local socket");
  return fd;
}

Result<Fd> bind_local(int type, const std::string& name) {
  auto fd = open_local(type);
  if (!fd) return fd;
  const LocalName local(name);
  if (::bind(fd->get(), local.any(), local.size) < 0) return errno_error("take the name @" + name);
  return fd;
}

}  // namespace

Result<Fd> listen_local(const std::string& name) {
  auto fd = bind_local(SOCK_SEQPACKET, name);
  if (fd && ::listen(fd->get(), kBacklog) < 0) return errno_error("listen at @" + name);
  return fd;
}

Result<Fd> connect_local(const std::string& name) {
  auto fd = open_local(SOCK_SEQPACKET);
  if (!fd) return fd;
  const LocalName local(name);
  if (::connect(fd->get(), local.any(), local.size) < 0) return errno_error("connect to @" + name);
  return fd;
}

Result<Fd> bind_local_datagrams(const std::string& name) { return bind_local(SOCK_DGRAM, name); }
Result<Fd> open_local_datagrams() { return open_local(SOCK_DGRAM); }

bool send_local_datagram(int fd, const std::string& name, const iovec* pieces, std::size_t count) {
  LocalName local(name);
  msghdr message{};
  message.msg_name = &local.address;
  message.msg_namelen = local.size;
  message.msg_iov = const_cast<iovec*>(pieces);
  message.msg_iovlen = count;
  return system_calls::sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

bool send_message(int fd, const void* bytes, std::size_t size, const std::vector<int>& descriptors) {
  if (descriptors.size() > kMaxDescriptors) return false;
  iovec piece{const_cast<void*>(bytes), size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxDescriptors)] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptors.size());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * descriptors.size());
    std::memcpy(CMSG_DATA(header), descriptors.data(), sizeof(int) * descriptors.size());
  }
  return system_calls::sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

Result<Received> receive_message(int fd, void* bytes, std::size_t size) {
  iovec piece{bytes, size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxDescriptors)];
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = system_calls::recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0) return errno_error("receive from a local socket");
  Received out;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(c) + i * sizeof(int), sizeof descriptor);
      out.descriptors.emplace_back(descriptor);
    }
  }
  if (got != static_cast<ssize_t>(size) || (message.msg_flags & MSG_TRUNC) != 0)
    return errno_error("receive from a local socket", EPROTO);
  if ((message.msg_flags & MSG_CTRUNC) != 0)
    return errno_error("receive descriptors from a local socket", EMFILE);
  return out;
}

std::optional<PeerProcess> peer_of(int fd) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0) return std::nullopt;
  return PeerProcess{credentials.pid, credentials.uid};
}

bool is_trusted(const PeerProcess& peer) { return peer.uid == ::geteuid() || peer.uid == 0; }

}  // namespace mrc::port
