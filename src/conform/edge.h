// Time and the wire as checks know them: virtual in tests, a clock and sockets on a real network.
#pragma once

#include "base/time.h"
#include "port/port.h"

namespace mrc::conform {

class Edge {
 public:
  virtual ~Edge() = default;
  virtual Time now() = 0;
  /// Planes on which the tester and the device both stand.
  virtual int planes() const { return 1; }
  /// At Layer::datagram. What it can't send (a flow label, say) is missing from what checks can prove.
  virtual port::Port& port(int plane) = 0;
  /// Where the device's packets of a plane come from and ours go to.
  virtual port::Address device(int plane) const = 0;
  /// Until something may have arrived, or `until`.
  virtual void wait(Time until) = 0;
};

}  // namespace mrc::conform
