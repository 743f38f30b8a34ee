// The sockets of one address, shared by all processes of a UDP port: one per seat and one for reserved QP
// numbers.
#pragma once

#include <string>
#include <vector>

#include "port/fd.h"
#include "port/steering.h"
#include "port/udp_socket.h"

namespace mrc::port {

struct SocketGroup {
  Address bind;
  std::string interface;
  std::vector<Fd> sockets;  // in steering order

  bool is(const Address& address, const std::string& name) const {
    return bind == address && interface == name;
  }
  std::vector<int> descriptors() const;
};

/// Makes all sockets of a group, bound in order, and attaches the rule that steers packets to them. The
/// caller must know that no other process has such a group: a second one would join the first and upset its
/// order.
Result<SocketGroup> make_group(ReceiveSocketOptions options, const Steering& steering);

/// Throws away what was queued for the last holder of a place.
void drain(int socket);

}  // namespace mrc::port
