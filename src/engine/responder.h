// The receiving side of a QP: accepts packets in any order, completes in order, and reports what arrived.
#pragma once

#include <cstdint>
#include <optional>

#include "base/ring.h"
#include "engine/congestion.h"
#include "engine/events.h"
#include "engine/incoming.h"
#include "engine/receive_window.h"
#include "engine/record_pool.h"
#include "engine/settings.h"
#include "engine/types.h"
#include "engine/wimm_stash.h"
#include "wire/packet.h"
#include "wire/verdict.h"

namespace mrc::engine {

struct ResponderCounters {
  std::uint64_t packets = 0, bytes = 0, duplicates = 0, trims = 0, marks = 0;
  std::uint64_t sacks = 0, nacks = 0, transport_acks = 0, out_of_window = 0;
};

class Responder {
 public:
  Responder(Qpn local, Qpn remote, Psn first, const QpLimits& limits, const ResponderSettings& settings,
            const Narrator& say, const Congestion& congestion, Incoming* incoming);

  bool post_receive(std::uint64_t wr_id) { return receives_.push(wr_id); }

  /// `ok`: place the payload now. Any other verdict: place nothing.
  Verdict on_write(Time now, Psn psn, const wire::Write& write, const wire::Envelope& envelope,
                   Memory& memory);
  Verdict on_trimmed(Time now, Psn psn, const wire::Write& write, const wire::Envelope& envelope);
  void on_probe(Time now, const wire::Probe& probe, const wire::Envelope& envelope);

  /// The next control packet; the caller adds the path.
  bool poll_control(Time now, wire::Packet& out);
  bool has_control() const { return nak_due_ || ack_due_ || plain_ || !special_.empty(); }
  /// The EV of the packet that poll_control() answers next; nothing where it answers none.
  std::optional<Ev> answers() const;
  bool poll_completion(Completion& out);
  void flush() {
    flushing_ = true;
    expected_.forget();
  }

  /// What it shares with the NIC's other QPs; null: there are none.
  Incoming* nic() const { return expected_.all(); }

  /// Set once a peer broke the rules: the QP enters the error state, the NAK still leaves.
  bool failed() const { return fault_.has_value(); }
  /// In the error state whatever still arrives is answered with the NAK again, in case it got lost.
  void repeat_nak() { nak_due_ = fault_.has_value(); }

  // Flow control by the node: a window in PSN units (dynamic MPR), a penalty on senders, and their release.
  void set_mpr(std::uint8_t units) { advertised_mpr_ = units; }
  void set_penalty(std::uint8_t penalty) { penalty_ = penalty; }
  void restore_senders() {
    penalty_ = 0;
    restore_ = true;
  }
  /// Paths through this port will not last: ask senders to leave them.
  void set_leaving(PortMask ports) { leaving_ = ports; }

  const ResponderCounters& counters() const { return counters_; }
  const ReceiveWindow& window() const { return window_; }
  std::size_t bytes() const { return window_.bytes() + stash_.bytes() + kQueued * sizeof(Trigger); }

 private:
  /// What made an answer due.
  struct Trigger {
    Psn psn;
    Ev ev;
    Ticks at;
    wire::Timestamp timestamp;
    std::uint16_t probe_id = 0;
    bool probe = false;
    bool nack = false;
    wire::NackReason reason = wire::NackReason::trimmed;  // of a NACK
    wire::SackMark mark = wire::SackMark::none;           // of a SACK
  };
  static constexpr std::size_t kQueued = 8;

  std::optional<Verdict> find_fault(const wire::Write& write, Memory& memory) const;
  bool length_fits(const wire::Write& write) const;
  void refuse(Verdict verdict);
  void count(const wire::Write& write);
  void consider_sack(Time now, Psn psn, const wire::Write& write, const wire::Envelope& envelope);
  void queue_nack(Time now, Psn psn, const wire::Write& write, const wire::Envelope& envelope,
                  wire::NackReason reason);
  std::uint32_t executed() const;
  bool rest_fits() const;
  wire::Sack make_sack(Time now, const Trigger& trigger);
  wire::Nack make_nack(Time now, const Trigger& trigger) const;
  wire::Timestamp echo(Time now, const Trigger& trigger) const;

  Qpn local_, remote_;
  std::uint16_t mtu_;
  bool dynamic_mpr_;
  ResponderSettings settings_;
  const Narrator& say_;
  const Congestion& congestion_;
  Expected expected_;
  ReceiveWindow window_;
  WimmStash stash_;
  Ring<std::uint64_t> receives_;
  Ring<Trigger> special_;         // marks, probes, refusals: each has an answer of its own
  std::optional<Trigger> plain_;  // thresholds and ack requests: the newest speaks for all
  ResponderCounters counters_;
  std::uint64_t rcvd_bytes_ = 0;
  std::uint32_t unreported_ = 0;  // bytes since the last SACK
  std::optional<Verdict> fault_;
  bool nak_due_ = false, ack_due_ = false, flushing_ = false, restore_ = false;
  std::uint8_t penalty_ = 0, advertised_mpr_;
  PortMask leaving_;
};

}  // namespace mrc::engine
