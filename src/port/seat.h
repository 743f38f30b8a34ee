// A process's seat among those that share a UDP port: a range of QP numbers that is its own, and sockets for
// them.
//
// The sockets of one address form a reuse-port group of fixed size, made at once and in order by the first
// process. Every process holds all of them (it gets them from any other) and reads only its own place, so
// places never move, whoever dies and however; see docs/decisions/0004-one-udp-port-many-processes.md. A seat
// is held by holding a local name, which the kernel frees.
//
// Threads: any. serve() never waits; take() and group() may, up to a few seconds.
#pragma once

#include <list>
#include <memory>
#include <mutex>

#include "port/endpoint_claim.h"
#include "port/seat_protocol.h"
#include "port/socket_group.h"

namespace mrc::port {

struct SeatOptions {
  std::uint16_t udp_port = 4791;
  Steering steering;
  EndpointRole endpoint = EndpointRole::if_free;
  bool serve_all_users =
      false;  // hand sockets to processes of other users too: for a daemon that runs as root
};

class Seat {
 public:
  /// EUSERS when all seats are taken.
  static Result<std::shared_ptr<Seat>> take(const SeatOptions& options);

  unsigned index() const { return index_; }
  const Steering& steering() const { return options_.steering; }
  QpnRange qpns() const { return options_.steering.qpns_of(index_); }
  std::uint16_t udp_port() const { return options_.udp_port; }
  /// The node's daemon: it answers endpoint operations for processes whose peers it does not know.
  bool answers_everybody() const { return options_.endpoint == EndpointRole::insist; }

  /// The sockets of this address: another process's, or made here. They live as long as the seat.
  Result<const SocketGroup*> group(const ReceiveSocketOptions& options);

  /// Readable when serve() has something to do: somebody wants sockets, or the endpoint's holder has gone.
  int fd() const { return epoll_.get(); }
  void serve();
  /// Whether packets to reserved QP numbers at the address of this group are ours to read. serve() may change
  /// it. `before` when somebody is busy with the seat: ask again later.
  bool holds_endpoint(const SocketGroup& group, bool before) const;

 private:
  explicit Seat(const SeatOptions& options, Fd epoll);

  Status sit_down();
  void serve_locked();
  void accept_at(int door);
  void hear(std::list<Fd>::iterator client);
  void answer_group(int client, const SeatMessage& request);
  bool may_have_sockets(int client) const;

  Result<Fd> lock_creation();
  bool wait_for(int fd);
  Result<const SocketGroup*> fetch_or_make(const ReceiveSocketOptions& options);
  Result<bool> fetch(const ReceiveSocketOptions& options, unsigned seat);
  /// One address: its sockets, and the duty to answer endpoint operations there.
  struct Place {
    SocketGroup group;
    EndpointClaim endpoint;
  };
  Place* find(const Address& bind, const std::string& interface);
  const SocketGroup* keep(SocketGroup group);
  void claim(Place& place);

  SeatOptions options_;
  unsigned index_ = 0;
  mutable std::mutex mutex_;
  Fd epoll_;
  Fd door_;  // listens at our seat's name: holding it is holding the seat
  std::list<Fd> clients_;
  std::list<Place> places_;
};

}  // namespace mrc::port
