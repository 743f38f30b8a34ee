// One end of a connection to or from mrcd: messages in, messages out, never waiting, and a descriptor beside
// them.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <span>
#include <vector>

#include "base/result.h"
#include "node/framing.h"
#include "port/fd.h"

namespace mrc::node {

class MessageSocket {
 public:
  MessageSocket() = default;
  explicit MessageSocket(port::Fd fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }
  bool open() const { return static_cast<bool>(fd_); }
  void close();

  /// Puts it behind what waits to be sent. `beside`: a descriptor that goes with it.
  void queue(const Message& message, port::Fd beside = {});
  /// Messages that are bytes already.
  void queue_bytes(std::span<const std::uint8_t> bytes) {
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }
  std::size_t queued() const { return out_.size() - sent_; }
  /// Sends what the kernel takes now. False: the other end is gone.
  bool flush();
  /// Takes what has arrived. False: the other end is gone.
  bool receive();
  MessageStream::Next next(Message& out) { return in_.next(out); }
  const std::optional<MessageStream::Foreign>& foreign() const { return in_.foreign(); }
  /// The latest descriptor that came; none otherwise.
  port::Fd take_descriptor() { return std::move(received_); }

 private:
  port::Fd fd_;
  std::vector<std::uint8_t> out_;
  std::size_t sent_ = 0;
  port::Fd beside_;
  MessageStream in_;
  port::Fd received_;
};

/// Where mrcd listens: MRC_SOCKET (empty: nowhere), else the user's own mrcd when there is one
/// ($XDG_RUNTIME_DIR/openmrc/mrcd.sock), else the system's (/run/openmrc/mrcd.sock).
std::string daemon_socket();
/// Where a mrcd of this user listens unless told otherwise. ENOENT: it must be told.
Result<std::string> own_daemon_socket();

/// A name that begins with @ is abstract: it belongs to the network namespace and leaves no file.
struct LocalAddress {
  sockaddr_un address{};
  socklen_t size = 0;
};
/// ENAMETOOLONG.
Result<LocalAddress> local_address(const std::string& path);

/// Connects. ENOENT, ECONNREFUSED: nobody is there. EPERM: who listens is neither root nor this user.
Result<port::Fd> connect_daemon(const std::string& path);

/// A program and mrcd speak different versions of the protocol: EPROTONOSUPPORT.
Error different_versions(std::uint32_t of_mrcd, std::uint32_t of_program);

/// The network namespace that a socket was made in; 0 where the kernel doesn't say. What accept() returns was
/// made where the peer is.
std::uint64_t network_of(int socket);
std::uint64_t own_network();

}  // namespace mrc::node
