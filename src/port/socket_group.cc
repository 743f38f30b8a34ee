#include "port/socket_group.h"

#include <sys/socket.h>

namespace mrc::port {

namespace {

/// A process that is dying frees its seat a moment before its sockets. Ours would queue up behind them in the
/// group and move when they go, so wait until nobody at all has the port.
Status await_free(ReceiveSocketOptions options) {
  options.sharing = Sharing::exclusive;
  constexpr int kTries = 200;
  for (int i = 0;; ++i) {
    const auto alone = open_receive_socket(options);
    if (alone) return Done{};
    if (alone.error().code != EADDRINUSE || i == kTries) return alone.error();
    ::usleep(5000);
  }
}

}  // namespace

std::vector<int> SocketGroup::descriptors() const {
  std::vector<int> out;
  for (const Fd& socket : sockets) out.push_back(socket.get());
  return out;
}

Result<SocketGroup> make_group(ReceiveSocketOptions options, const Steering& steering) {
  if (auto free = await_free(options); !free) return free.error();
  options.sharing = Sharing::reuse_port;
  SocketGroup group{options.bind, options.interface, {}};
  for (unsigned i = 0; i <= steering.endpoint_index(); ++i) {
    auto socket = open_receive_socket(options);
    if (!socket) return socket.error();
    group.sockets.push_back(std::move(*socket));
    if (i != 0) continue;
    const auto program = steering.program();
    if (auto attached = attach_reuse_port_program(group.sockets[0].get(), program); !attached)
      return attached.error();
  }
  return group;
}

void drain(int socket) {
  char byte;
  constexpr int kEnough = 100'000;
  for (int i = 0; i < kEnough && ::recv(socket, &byte, 1, MSG_DONTWAIT | MSG_TRUNC) >= 0; ++i) {
  }
}

}  // namespace mrc::port
