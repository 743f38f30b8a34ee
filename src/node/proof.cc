#include "node/proof.h"

#include <sys/random.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "node/message_socket.h"

namespace mrc::node {
namespace {

constexpr std::uint32_t kLargest = (1u << 30) - 1;  // the kernel doubles it into an int

/// What anybody may set: a challenge lies beyond. The largest when it can't be read: no challenge then.
std::uint32_t open_limit(const char* path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path, "re"), std::fclose);
  unsigned long value = kLargest;
  if (file == nullptr || std::fscanf(file.get(), "%lu", &value) != 1) return kLargest;
  return static_cast<std::uint32_t>(std::min<unsigned long>(value, kLargest));
}

std::uint32_t beyond(const char* path) {
  const std::uint32_t limit = open_limit(path);
  if (limit > kLargest / 2) return 0;
  std::uint32_t random = 0;
  while (::getrandom(&random, sizeof random, 0) != sizeof random) continue;
  return limit + 1 + random % (kLargest - limit);
}

bool has_size(int socket, int option, std::uint32_t size) {
  int value = 0;
  socklen_t length = sizeof value;
  if (::getsockopt(socket, SOL_SOCKET, option, &value, &length) != 0) return false;
  return size != 0 && static_cast<std::uint32_t>(value) == 2 * size;
}

}  // namespace

Challenge make_challenge() {
  return {beyond("/proc/sys/net/core/rmem_max"), beyond("/proc/sys/net/core/wmem_max")};
}

Result<port::Fd> make_proof(const Challenge& challenge) {
  port::Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return port::errno_error("open a local socket");
  const int receive = static_cast<int>(challenge.receive), send = static_cast<int>(challenge.send);
  const bool made = ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &receive, sizeof receive) == 0 &&
                    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUFFORCE, &send, sizeof send) == 0;
  if (!made) return Error{EPERM, "only a process with CAP_NET_ADMIN may control a node: run it as root"};
  return socket;
}

// MRC-NODE-002: only CAP_NET_ADMIN over mrcd's own network namespace counts; a namespace of one's own gives
// none.
bool proves(int socket, const Challenge& challenge) {
  const std::uint64_t network = own_network();
  return network != 0 && network_of(socket) == network && has_size(socket, SO_RCVBUF, challenge.receive) &&
         has_size(socket, SO_SNDBUF, challenge.send);
}

}  // namespace mrc::node
