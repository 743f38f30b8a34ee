// Who of the processes sharing a UDP port at an address reads packets to reserved QP numbers there: the one
// that holds the endpoint's name. The others keep a connection to the holder, which breaks when it dies, and
// the first to notice takes over. The node's daemon asks for it: the name's socket itself changes hands, so
// there is never a moment without a holder.
#pragma once

#include <cstdint>
#include <string>

#include "port/address.h"
#include "port/fd.h"

namespace mrc::port {

enum class EndpointRole : std::uint8_t {
  never,
  if_free,  // take it when nobody has it, now or whenever its holder dies
  insist,   // the node's daemon: the present holder hands it over
};

class EndpointClaim {
 public:
  /// `epoll` is told of the door and of the connection to the holder, whichever there is.
  EndpointClaim(std::uint16_t udp_port, const Address& bind, std::string interface, EndpointRole role,
                int epoll)
      : udp_port_(udp_port), bind_(bind), interface_(std::move(interface)), role_(role), epoll_(epoll) {}

  bool held() const { return static_cast<bool>(door_); }
  int door() const { return door_.get(); }
  int watch() const { return watch_.get(); }
  /// Takes the name, or connects to its holder, and asks for it when we insist.
  void seek();
  /// The connection to the holder says something or broke.
  void on_watch();
  /// Sends the door to the process at `client`, and is a watcher from then on.
  void hand_over(int client);

 private:
  void adopt(Fd door);
  void add(int fd) const;
  void remove(int fd) const;

  std::uint16_t udp_port_;
  Address bind_;
  std::string interface_;
  EndpointRole role_;
  int epoll_;
  Fd door_;
  Fd watch_;
};

}  // namespace mrc::port
