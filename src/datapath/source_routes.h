// Where the host writes the outer header itself: the way that an EV names, as uSID carriers.
#pragma once

#include "nic/peer.h"
#include "port/address.h"

namespace mrc::datapath {

struct SourceRoute {
  port::Address first, next;
  std::uint8_t carriers = 0;  // 1: `next` is not used
};

/// Asked once per train, on the hot path: no waiting, no memory.
class SourceRoutes {
 public:
  /// False: this EV names no way to there; the packet leaves without an outer header.
  virtual bool find(const nic::Gid& to, Ev ev, SourceRoute& out) const = 0;

 protected:
  ~SourceRoutes() = default;
};

}  // namespace mrc::datapath
