// How bytes get from one process to the other in a measurement: by plain system calls, or through a Port.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace mrc::bench {

struct LinkPlan {
  bool left = true;  // which end
  bool v6 = true;
  unsigned train = 1;
  unsigned packet_bytes = 4160;
  unsigned paths = 1;
  bool blocking = false;  // receive() waits
};

class Link {
 public:
  virtual ~Link() = default;
  /// Sends one batch (some trains) and returns the packets sent; 0 when there is no room.
  virtual unsigned send_batch() = 0;
  /// Sends one train: one packet when the plan says train = 1.
  virtual bool send_one() = 0;
  /// Takes what is there, adding up packets and bytes.
  virtual unsigned receive(std::uint64_t& bytes) = 0;
};

/// Null, with a sentence on stderr, when it can't be had.
std::unique_ptr<Link> open_socket_link(const LinkPlan& plan);
std::unique_ptr<Link> open_port_link(const std::string& kind, const LinkPlan& plan);
std::unique_ptr<Link> open_link(const std::string& via, const LinkPlan& plan);

}  // namespace mrc::bench
