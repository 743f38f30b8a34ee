// The engine's one door.
#pragma once

#include <optional>
#include <span>

#include "base/result.h"
#include "engine/congestion.h"
#include "engine/events.h"
#include "engine/path_set.h"
#include "engine/record_pool.h"
#include "engine/requestor.h"
#include "engine/responder.h"
#include "engine/settings.h"
#include "engine/types.h"
#include "wire/packet.h"
#include "wire/verdict.h"

namespace mrc::engine {

struct QpConfig {
  Qpn local;
  Qpn remote;
  Psn send_psn;     // first PSN that we send
  Psn receive_psn;  // first PSN that the peer sends
  QpLimits limits;
  RequestorSettings requestor;
  ResponderSettings responder;
  PathSettings paths;
  std::span<const Path> path_table;  // the EV profile; outlives the QP
  Incoming* incoming = nullptr;      // of all QPs of the NIC; outlives the QP
  std::uint64_t seed = 0;
};

/// One MRC queue pair, both directions, without I/O.
///
/// Everything that happens is an input, `handle_*(now, ...)` or `post_*`; everything that follows is drained
/// from the outputs, `poll_*`, until they say that there is nothing more. After each input, and when
/// `next_timeout()` has come, drain again. `now` never runs backwards. Time, memory access and the network
/// are arguments: a QP owns no clock, socket, lock or random device, logs nothing, and allocates nothing
/// after creation; records of packets in flight come from the NIC's RecordPool, and an empty pool means
/// "later", not an error. Packets are values (wire/packet.h).
///
///   in    post_send, post_receive      work; refused with an errno when the queue is full or the state is
///   wrong
///         handle_packet                one arrival; the Verdict says what became of it, and `ok` for a Write
///         means that the
///                                      caller copies the payload to its address now, exactly once
///         handle_timeout               next_timeout() has passed
///         handle_port, handle_peer_ports   a local port, or the peer's ports, went down or came up
///         handle_plane_doubt    another QP to the same peer gave a plane up (its poll_given_up_plane)
///         handle_ev_doubt       another QP to the same peer found an EV silent (its poll_silent_ev)
///         set_ev_state                 the controller's word on an EV
///   out   poll_transmit                the next packet for one of the ports that have room: control first,
///   then probes,
///                                      repairs, new data
///         poll_completion              the next completion, in order, each exactly once
///         next_timeout                 when to call handle_timeout at the latest
///
/// REQUIRES: the congestion controller, the pool, the path table and the sink outlive the QP; one thread at a
/// time.
class QueuePair {
 public:
  QueuePair(const QpConfig& config, Congestion& congestion, RecordPool& pool, EventSink* sink = nullptr);

  /// rtr: packets are accepted. rts: and sent. error: everything outstanding is flushed. Returns 0 or EINVAL.
  int modify(Time now, QpState next);
  /// What only becomes known on the way from rtr to rts: where the requestor starts and how far it may go.
  /// Congestion and pool as given before. EINVAL outside rtr.
  int prepare_send(Psn first, const QpLimits& limits, const RequestorSettings& settings,
                   Congestion& congestion, RecordPool& pool);
  /// Timeout and retries may change at any time.
  void set_retries(const RequestorSettings& settings) { requestor_.set_retries(settings); }

  /// The index of the posted work (see Transmit::work), or an errno.
  struct Posted {
    int error = 0;
    std::uint16_t work = 0;
  };
  Posted post_send(Time now, const SendWork& work);
  int post_receive(std::uint64_t wr_id);

  Verdict handle_packet(Time now, const wire::Packet& packet, const wire::Envelope& envelope, Memory& memory);
  void handle_timeout(Time now);
  void handle_port(Time now, PortId port, bool up);
  void handle_peer_ports(Time now, PortMask up);
  void handle_plane_doubt(Time now, PortId port);
  void handle_ev_doubt(Time now, EvSlot s);
  bool set_ev_state(Time now, EvSlot slot, EvState state);
  /// A packet that the caller could not read from local memory: the work fails and the QP with it.
  void handle_local_error(Time now, std::uint16_t work);

  /// Without `may_ask` probes stay for later.
  bool poll_transmit(Time now, PortMask room, Transmit& out, bool may_ask = true);
  /// Data alone: answers and probes stay for poll_transmit.
  bool poll_data(Time now, PortMask room, Transmit& out) {
    return state_ == QpState::rts && requestor_.poll_data(now, room, out);
  }
  /// The plane that it gave up since the last call.
  std::optional<PortId> poll_given_up_plane();
  std::optional<EvSlot> poll_silent_ev() { return paths_.poll_silent_ev(); }
  bool poll_completion(Time now, Completion& out);
  Time next_timeout() const;

  QpState state() const { return state_; }
  SendState send_state() const { return requestor_.send_state(); }
  /// poll_transmit may have something beside answers, now or when a window opens.
  bool has_data() const { return state_ == QpState::rts && requestor_.has_data(); }
  void allow_partial_unit() { requestor_.allow_partial_unit(); }
  /// Engine memory of this QP while idle; the rings of posted work come on top, as deep as the caller asked
  /// for.
  std::size_t bytes() const {
    return sizeof(*this) + paths_.bytes() + requestor_.bytes() + responder_.bytes();
  }
  const PathSet& paths() const { return paths_; }
  const Requestor& requestor() const { return requestor_; }
  Responder& responder() { return responder_; }

 private:
  void enter(Time now, QpState next);
  void settle_state(Time now);
  Verdict dispatch(Time now, const wire::Packet& packet, const wire::Envelope& envelope, Memory& memory);

  QpState state_ = QpState::reset;
  bool more_control_ = false;  // waited when the last control packet left
  Narrator say_;
  PathSet paths_;
  Requestor requestor_;
  Responder responder_;
};

}  // namespace mrc::engine
