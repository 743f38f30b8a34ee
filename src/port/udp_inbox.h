// Where a UDP port's packets come from: its own socket alone, or its place in a group that it shares with
// other processes. In a group it also reads the place of reserved QP numbers while that is its duty, and
// swaps strays with the others.
#pragma once

#include <memory>
#include <optional>

#include "port/seat.h"
#include "port/strays.h"
#include "port/udp_receiver.h"

namespace mrc::port {

class UdpInbox {
 public:
  /// `seat` null: the socket is ours alone.
  static Result<UdpInbox> open(const ReceiveSocketOptions& options, const Address& local,
                               std::shared_ptr<Seat> seat);

  std::size_t receive(std::span<RxPacket> out, Counters& counters);
  void attend() { receiver_.attend(); }
  bool rest() { return receiver_.rest(); }
  /// `fd` of epoll() is readable: the seat, the endpoint's place or the strays' door.
  void serve(int fd);
  /// Whatever a seat that several ports share has learnt meanwhile.
  void follow();

  int socket() const { return socket_; }
  int epoll() const { return epoll_.get(); }
  bool has_doorbell() const { return receiver_.has_doorbell(); }
  bool takes_reserved_qpns() const { return seat_ == nullptr || reading_endpoint_; }
  QpnRange qpns() const { return seat_ == nullptr ? QpnRange{} : seat_->qpns(); }

 private:
  UdpInbox(Fd epoll, const Address& local) : epoll_(std::move(epoll)), receiver_(local) {}

  Status open_alone(const ReceiveSocketOptions& options);
  Status open_shared(const ReceiveSocketOptions& options, const Address& local);
  void build_doorway(const ReceiveSocketOptions& options);
  void watch(int fd) const;
  void follow_endpoint();
  void copy_to_all(std::span<const RxPacket> packets);
  std::size_t receive_rare(std::span<RxPacket> out, Counters& counters);
  std::size_t keep_ours(std::span<RxPacket> packets, Counters& counters);

  Fd epoll_;
  Fd own_;           // the socket, when nobody shares it
  int socket_ = -1;  // own_, or our place in the group
  UdpReceiver receiver_;

  std::shared_ptr<Seat> seat_;
  std::optional<Strays> strays_;
  std::optional<UdpReceiver> endpoint_receiver_;
  const SocketGroup* group_ = nullptr;
  int endpoint_socket_ = -1;
  bool reading_endpoint_ = false;
  bool rare_ready_ = false;  // the endpoint's place or the strays' door may have something
};

}  // namespace mrc::port
