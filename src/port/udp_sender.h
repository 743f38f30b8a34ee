// Trains out through UDP sockets: each train is one message with a segment size (UDP_SEGMENT), consecutive
// trains of one source port leave in one sendmmsg. Storage for a burst is here once and for all, so sending
// allocates nothing.
#pragma once

#include <sys/socket.h>

#include <memory>
#include <span>

#include "port/connected_sockets.h"
#include "port/descriptor_room.h"
#include "port/port.h"
#include "port/send_sockets.h"

namespace mrc::port {

class UdpSender {
 public:
  struct Options {
    SendSockets::Options sockets;
    std::uint16_t udp_port = 4791;
    std::uint32_t connected = 256;  // sockets in the fast lane, IPv6 only; a power of two
    int own_socket = -1;  // bound to udp_port itself: sends for the EV whose source port is udp_port
  };
  explicit UdpSender(Options options);
  ~UdpSender();

  /// As Port::tx. `counters` takes what was sent and discarded.
  std::size_t send(std::span<TxTrain> trains, Counters& counters);
  int blocked_fd() const { return blocked_fd_; }
  bool flow_label() const { return options_.sockets.flow_label; }
  int prepare(std::uint16_t source_port);

  static constexpr std::uint32_t kMaxBurst = 64;
  static constexpr std::uint32_t kMaxPieces = 1024;  // UIO_MAXIOV
  static constexpr std::uint32_t kMaxTrain = 64;     // UDP_MAX_SEGMENTS of the oldest kernel with UDP_SEGMENT

 private:
  struct Message;

  struct Way {
    int fd;          // or minus the errno
    bool connected;  // destination, class and flow label are the socket's
  };

  int socket_for(std::uint16_t source_port);
  Way way_of(const TxTrain& train);
  int check(const TxTrain& train) const;
  void fill(std::size_t i, const TxTrain& train, bool connected);
  bool joins(const TxTrain& first, const TxTrain& next, Way way);
  std::size_t gather(std::span<TxTrain> trains, Way way);
  std::size_t push(int fd, std::span<TxTrain> run, Counters& counters);

  Options options_;
  bool v4_;
  DescriptorRoom room_;
  SendSockets sockets_;
  ConnectedSockets connected_;
  int blocked_fd_ = -1;
  std::unique_ptr<Message[]> messages_;
  std::unique_ptr<mmsghdr[]> headers_;
};

}  // namespace mrc::port
