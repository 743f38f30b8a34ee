// What the engine tells those who watch: tracing, counters, tests and plots read the same plain structs.
// Watching is optional; without a sink an event costs one predictable branch.
#pragma once

#include <cstdint>
#include <variant>

#include "base/ids.h"
#include "base/psn.h"
#include "base/time.h"
#include "engine/types.h"

namespace mrc::engine {

enum class EvState : std::uint8_t { good, skip, assumed_bad, denied };
enum class LossCause : std::uint8_t {
  order,    // a newer packet of the same EV arrived
  silence,  // the path did not answer a probe either
  timeout,  // nothing moved for the ACK timeout
  nack,     // the responder said so
};
enum class PathCause : std::uint8_t {
  start,
  loss,
  silence,
  timeout,
  ecn,
  trim,
  always_skip,
  probed,
  controller,
  port_down,
  port_up,
  min_active,
};

struct PacketSent {
  Psn psn;
  EvSlot slot;
  PortId port;
  std::uint32_t bytes;
  bool repair;
};
struct PacketAcked {
  Psn psn;
  EvSlot slot;
};
struct PacketLost {
  Psn psn;
  EvSlot slot;
  LossCause cause;
};
struct PacketPlaced {
  Psn psn;
  std::uint64_t va;
  std::uint32_t bytes;
};
struct PathChanged {
  EvSlot slot;
  PortId port;
  EvState from, to;
  PathCause cause;
};
struct PathSuspected {
  EvSlot slot;
  PortId port;
  Psn psn;
};
struct ProbeSent {
  EvSlot slot;
  std::uint16_t id;
};
struct ProbeAnswered {
  EvSlot slot;
  std::uint16_t id;
  Duration rtt;
};
struct WindowChanged {
  std::uint64_t window;
  std::int64_t in_flight;
};
struct Retried {
  std::uint8_t count;
};
struct StateChanged {
  QpState from, to;
};

using EventBody = std::variant<PacketSent, PacketAcked, PacketLost, PacketPlaced, PathChanged, PathSuspected,
                               ProbeSent, ProbeAnswered, WindowChanged, Retried, StateChanged>;
struct Event {
  Time when;
  Qpn qpn;
  EventBody body;
};

class EventSink {
 public:
  virtual void on_event(const Event& event) = 0;

 protected:
  ~EventSink() = default;
};

/// How a part of the engine speaks: says nothing at all when nobody listens.
class Narrator {
 public:
  Narrator(EventSink* sink, Qpn qpn) : sink_(sink), qpn_(qpn) {}
  template <class Body>
  void operator()(Time now, const Body& body) const {
    if (sink_ != nullptr) [[unlikely]]
      sink_->on_event(Event{now, qpn_, body});
  }

 private:
  EventSink* sink_;
  Qpn qpn_;
};

}  // namespace mrc::engine
