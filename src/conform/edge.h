// Time and the wire as checks know them: virtual in tests, a clock and sockets on a real network.
#pragma once

#include "base/time.h"
#include "port/port.h"

namespace mrc::conform {

class Edge {
 public:
  virtual ~Edge() = default;
  virtual Time now() = 0;
  /// At Layer::datagram. What it can't send (a flow label, say) is missing from what checks can prove.
  virtual port::Port& port() = 0;
  /// Where the device's packets come from and ours go to.
  virtual port::Address device() const = 0;
  /// Until something may have arrived, or `until`.
  virtual void wait(Time until) = 0;
};

}  // namespace mrc::conform
