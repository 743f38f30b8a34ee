// Endpoint operations, the traffic of QP 2: answers for whoever asks, our own probes, and Port Status Updates
// that are repeated until the peer has heard them.
#pragma once

#include <cstdint>

#include "base/fixed_array.h"
#include "base/ring.h"
#include "nic/peer.h"
#include "nic/qp.h"
#include "nic/settings.h"
#include "nic/timer_heap.h"
#include "wire/packet.h"
#include "wire/verdict.h"

namespace mrc::nic {

/// An endpoint operation that the host of this NIC asks for.
struct EndpointWork {
  Gid to;
  wire::EndpointOp op = wire::EndpointOp::ev_probe;
  Ev ev;
  PortId port;
  PortMask port_status;  // for a Port Status Update
  std::uint8_t dscp = kDscpByClass;
  std::uint64_t cookie = 0;
};

/// What came of it.
struct EndpointResult {
  std::uint64_t cookie = 0;
  bool answered = false;
  Duration rtt{};
  PortId port;                    // the answer arrived there
  bool service_time_out = false;  // the peer's holding time is not in it
};

/// One packet of QP 2 to send.
struct EndpointPacket {
  wire::Packet packet;
  wire::Envelope envelope;
  Gid to;
  std::uint8_t dscp = kDscpByClass;
};

class Endpoint {
 public:
  Endpoint(const NicLimits& limits, const EndpointSettings& settings, PathTable paths, std::uint64_t seed,
           TimerHeap& timers);

  // in
  /// A request of somebody else: an answer is queued. `no_resource` when too many wait.
  Verdict handle_request(Time now, const wire::Packet& packet, const wire::Envelope& envelope,
                         const Gid& source);
  /// An answer. `peer` is who sent it, if known. `result` is filled when it answers work of our host.
  Verdict handle_response(Time now, const wire::Packet& packet, const wire::Envelope& envelope,
                          const Gid& source, Peer* peer, EndpointResult& result);
  /// ENOBUFS when too many are open.
  int post(Time now, const EndpointWork& work);
  bool takes_strangers_port_status() const { return settings_.port_status_from_strangers; }
  std::size_t room() const { return requests_.size() - open_requests_; }
  void cancel(std::uint64_t cookie);
  /// Tell the peer which of our ports are up, again and again until it answers.
  void announce(Time now, Peer& peer);
  void forget(Peer& peer) { List<Peer, AnnounceTag>::remove(peer); }
  void handle_announce_timeout(Time now, Peer& peer);

  // out
  bool wants_to_send() const { return !replies_.empty() || !announcing_.empty() || due_requests_ > 0; }
  bool poll_transmit(Time now, PortMask room, PortMask up, EndpointPacket& out);
  /// Work whose answer did not come in time, one per call.
  bool poll_expired(Time now, EndpointResult& out);

 private:
  struct Reply {
    Gid to;
    wire::EndpointResponse response;
    Psn psn;
    Ev ev;
    PortId port;
    Time arrived;
  };
  struct Request {
    EndpointWork work;
    std::uint16_t id = 0;
    bool open = false;
    bool due = false;
    Time sent;
  };
  struct Clock : Timed {
    Clock() : Timed(TimedKind::endpoint) {}
  };

  bool poll_reply(Time now, PortMask room, EndpointPacket& out);
  bool poll_announcement(Time now, PortMask room, PortMask up, EndpointPacket& out);
  bool poll_request(Time now, PortMask room, EndpointPacket& out);
  std::uint16_t take_id() {
    return static_cast<std::uint16_t>(settings_.first_id | (next_id_++ & settings_.id_mask));
  }
  const engine::Path* path_for(PortMask room, std::uint16_t& turn) const;

  EndpointSettings settings_;
  PathTable paths_;
  TimerHeap& timers_;
  Ring<Reply> replies_;
  FixedArray<Request> requests_;
  std::uint16_t open_requests_ = 0;
  std::uint16_t due_requests_ = 0;
  std::uint16_t next_id_;
  std::uint16_t reply_turn_ = 0;
  List<Peer, AnnounceTag> announcing_;  // with an announcement due
  Clock clock_;
};

}  // namespace mrc::nic
