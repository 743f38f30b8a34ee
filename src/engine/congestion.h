// Congestion control as the requestor sees it: a page that never sees a packet.
//
// One Congestion serves one destination: all QPs toward it share the window. It counts bytes in flight, is
// told what happened to them, and answers one question: may another packet go? Bytes are UDP length + 40 at
// both ends.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"

namespace mrc::engine {

/// What the application said about its traffic (mrc_qp_hint_attr); 0: it said nothing.
struct CongestionHints {
  std::uint32_t qps_per_peer = 0;       // QPs toward one peer
  std::uint32_t send_peers = 0;         // peers that we send to
  std::uint32_t remote_recv_peers = 0;  // peers that send to our peer, we included
  bool operator==(const CongestionHints&) const = default;
};

class Congestion {
 public:
  virtual ~Congestion() = default;

  /// A packet of `bytes` leaves (first transmission or repair).
  virtual void on_send(Time now, std::uint32_t bytes) = 0;

  struct Feedback {
    std::uint64_t newly = 0;      // bytes that the peer received since its previous report
    std::optional<Duration> rtt;  // of the packet that triggered the SACK, service time taken out
    bool rtt_certain = true;      // false: by a timestamp alone, which may have wrapped
    bool ecn = false;             // that packet carried CE
    std::uint8_t penalty = 0;     // rcv_cwnd_pen
    bool restore = false;         // restore_cwnd
    std::uint64_t rest = 0;       // bytes yet to leave, where the peer has heard of all of them; else 0
  };
  /// All of `newly` leaves the flight, even if that was less: packets that were given up may arrive after
  /// all. The QP then returns the difference (on_settled), and only if both count alike do the books balance.
  virtual void on_sack(Time now, const Feedback& feedback) = 0;

  /// The packet was cut on the way: it left flight, and a queue was full. `last_hop`: at the receiver's own
  /// port.
  virtual void on_trim(Time now, std::uint32_t bytes, bool last_hop) = 0;
  /// The packet is inferred to be gone.
  virtual void on_loss(Time now, std::uint32_t bytes) = 0;
  /// What a QP holds of the flight is not what it has in flight (rounding, lost reports, copies that arrived
  /// twice): the difference is returned, which may be negative.
  virtual void on_settled(Time now, std::int64_t bytes) = 0;

  /// A full packet went to its receiver's port, and its header on from there past all that waited: so long
  /// takes a round trip without a queue.
  virtual void on_unqueued(Duration) {}

  /// The application says something else than when this was made.
  virtual void on_hints(const CongestionHints&) {}

  /// May a packet of at most `bytes` leave now?
  virtual bool may_send(std::uint32_t bytes) const = 0;
  /// The earliest time at which pacing allows the next packet; the past when it is not pacing that holds it.
  virtual Time next_send() const { return Time::min(); }

  virtual std::uint64_t window() const = 0;
  /// The largest that the window may become; 0: there is none.
  virtual std::uint64_t max_window() const { return 0; }
  virtual std::int64_t in_flight() const = 0;
};

}  // namespace mrc::engine
