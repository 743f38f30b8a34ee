// Unix sockets with abstract names: they belong to a network namespace, as UDP ports do, and vanish with
// their owner however it dies. That makes a bound name a lock, and the same name the door at which to ask its
// holder.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "port/fd.h"

namespace mrc::port {

/// Binds and listens (SOCK_SEQPACKET, non-blocking); EADDRINUSE when somebody holds the name.
Result<Fd> listen_local(const std::string& name);
/// Connects; ECONNREFUSED when nobody holds the name.
Result<Fd> connect_local(const std::string& name);
/// A datagram socket of that name, for messages without a conversation.
Result<Fd> bind_local_datagrams(const std::string& name);
Result<Fd> open_local_datagrams();
bool send_local_datagram(int fd, const std::string& name, const iovec* pieces, std::size_t count);

/// One message with file descriptors beside it; false when the other end is gone or full.
bool send_message(int fd, const void* bytes, std::size_t size, const std::vector<int>& descriptors = {});
/// Exactly `size` bytes, or an error: EMFILE when they came, and there was no room for the descriptors beside
/// them. Descriptors come with close-on-exec set.
struct Received {
  std::vector<Fd> descriptors;
};
Result<Received> receive_message(int fd, void* bytes, std::size_t size);

struct PeerProcess {
  pid_t pid = 0;
  uid_t uid = 0;
};
/// Who is at the other end of a connection.
std::optional<PeerProcess> peer_of(int fd);
/// Whether that process may share our sockets: the same user, or root.
bool is_trusted(const PeerProcess& peer);

}  // namespace mrc::port
