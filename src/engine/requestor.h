// The sending side of a QP: segments work into packets, keeps them within the windows, and repairs what got
// lost.
//
// Its verbs live one concept to a file: requestor_send.cc (what leaves), requestor_feedback.cc (what SACK,
// NACK and Transport ACK mean), requestor_ahead.cc (what is asked before anything is sent), requestor_loss.cc
// (which packets are gone, and when nothing moves),
// requestor_tail.cc (what is late when nothing else is left to send).
#pragma once

#include <cstdint>
#include <optional>

#include "engine/congestion.h"
#include "engine/events.h"
#include "engine/flight.h"
#include "engine/incoming.h"
#include "engine/path_clock.h"
#include "engine/path_set.h"
#include "engine/send_queue.h"
#include "engine/settings.h"
#include "engine/types.h"
#include "wire/verdict.h"

namespace mrc::engine {

struct RequestorCounters {
  std::uint64_t packets = 0, bytes = 0, repairs = 0, probes = 0;
  std::uint64_t lost_by_order = 0, lost_by_silence = 0, lost_by_timeout = 0, nacked = 0, suspicions = 0;
  std::uint32_t retries = 0;
  std::uint32_t repeats = 0;  // repairs of what was late, lost or not
};

class Requestor {
 public:
  Requestor(Qpn remote, Psn first, const QpLimits& limits, const RequestorSettings& settings, PathSet& paths,
            Congestion& congestion, RecordPool& pool, const Narrator& say);

  Qpn remote() const { return remote_; }
  bool full() const { return queue_.full(); }
  std::uint16_t post(Time now, const SendWork& work) {
    if (paths_.usable_ports().empty() && !awaits()) [[unlikely]]
      progress_at_ = now;
    return queue_.post(work);
  }
  /// Ports came or went.
  void note_ports(Time now) {
    if (stranded() && !owed()) progress_at_ = now;
  }

  /// The QP may send from now on.
  void start(Time now);
  bool poll_transmit(Time now, PortMask room, Transmit& out, bool may_ask = true);
  bool poll_data(Time now, PortMask room, Transmit& out);  // repairs and new data, no probes
  bool poll_completion(Completion& out) { return queue_.poll(out); }

  Verdict on_sack(Time now, const wire::Sack& sack);
  Verdict on_nack(Time now, const wire::Nack& nack);
  /// This plane may be dead: asks one of its EVs before anything more is sent by it.
  void doubt_plane(Time now, PortId port);
  void doubt_ev(Time now, EvSlot s);
  Verdict on_transport_ack(Time now, const wire::TransportAck& ack);

  void handle_timeout(Time now);
  Time next_timeout() const;

  /// Set once, by a NAK, an exhausted retry counter or the caller; the QP then enters the error state.
  std::optional<WorkStatus> failure() const { return failure_; }
  void fail(WorkStatus status);
  /// After a failure: records go back to the pool, and what was in flight back to the shared window.
  void abandon(Time now);
  void flush() { queue_.fail(WorkStatus::flushed); }

  /// Data arrived: while we send nothing ourselves, ask once per round trip whether answers get through.
  /// `nic`: who receives little asks again only if it is the NIC's time; null: nobody asks beside it.
  /// `torn`: a question arrived, however seldom, and nothing that is heard comes in.
  void note_receiving(Time now, Incoming* nic, bool torn = false);

  /// Timeout and retries from now on; the retries that were spent stay spent.
  void set_retries(const RequestorSettings& settings) {
    settings_.timeout = settings.timeout;
    settings_.linear_retries = settings.linear_retries;
    settings_.exponential_retries = settings.exponential_retries;
  }

  /// Bytes of the congestion window that the next packet waits for: those of a whole spray unit where one
  /// begins.
  std::uint32_t wants() const;
  /// The next packet need not wait until a whole unit fits.
  void allow_partial_unit() { partial_ = true; }
  /// Something to send beside new data: it does not wait for its turn behind others' units.
  bool is_urgent() const { return nudge_ || late_ || flight_.lost() > 0 || paths_.has_probe(); }
  bool has_data() const { return queue_.has_unsent() || is_urgent(); }

  SendState send_state() const;
  const RequestorCounters& counters() const { return counters_; }
  const Flight& flight() const { return flight_; }
  Psn window_end() const { return flight_.base() + window_; }  // first PSN beyond the window
  Duration longest_delay() const { return clock_.longest(); }
  Duration rtt() const { return clock_.rtt(); }
  const SendQueue& queue() const { return queue_; }
  std::size_t bytes() const { return clock_.bytes() + flight_.bytes(); }

 private:
  // requestor_send.cc
  bool send_probe(Time now, PortMask room, Transmit& out);
  bool send_repair(Time now, PortMask room, Transmit& out);
  std::optional<EvSlot> choose_for_repair(Time now, PortMask room, EvSlot lost_on);
  bool send_new(Time now, PortMask room, Transmit& out);
  bool send_nudge(Time now, PortMask room, Transmit& out);
  bool window_open() const;
  /// The peer has something of ours to answer for. Not while a message waits half-way for its turn and all
  /// that left has arrived.
  bool owed() const { return !flight_.settled() || queue_.executed() < queue_.whole(); }
  /// No port is left to send by: the timeout and its retries run as they would for packets that get lost.
  bool stranded() const { return queue_.has_unsent() && paths_.usable_ports().empty(); }
  bool awaits() const { return owed() || stranded(); }
  std::optional<PathSet::Heard> heard(Time now) const;
  bool may_send(Time now, Time not_before);
  int unit() const;
  bool unit_fits() const;
  int next_eighths() const;
  bool may_start(const Work& work) const;
  std::uint16_t payload_of(const Work& work, Psn psn) const;
  void write_into(wire::Write& w, const Work& work, Psn psn) const;
  void dispatch(Time now, Psn psn, EvSlot slot, bool repair, Record& record, Transmit& out);
  bool wants_answer(const wire::Write& w);
  void address(Transmit& out, EvSlot slot, wire::TrafficClass traffic_class) const;
  wire::Timestamp stamp(Time now) const;

  // requestor_feedback.cc
  void note_acked(Time now, Psn psn, const Record& record, bool was_in_flight);
  void learn_delay(Time now, EvSlot slot, Duration age);
  void acknowledge_below(Time now, Psn psn);
  void acknowledge_bitmap(Time now, Psn from, std::uint64_t bits);
  void note_progress(Time now);
  std::optional<Duration> round_trip(Time now, const wire::Sack& sack, std::optional<Duration> age) const;
  std::uint64_t rest_known_by(const wire::Sack& sack) const;
  void account(Time now, const wire::Sack& sack, std::optional<Duration> rtt, bool certain);
  void note_marks(Time now, const wire::Sack& sack, std::optional<EvSlot> slot);
  void hold_missing(Time now, const wire::Sack& sack);
  void settle_if_idle(Time now);

  // requestor_ahead.cc
  void ask_ahead();
  void knock(Time now);

  // requestor_tail.cc
  bool waits_for_tail() const;
  std::optional<Psn> oldest_of_tail();
  void watch_tail(Time now);
  bool send_late(Time now, PortMask room, Transmit& out);

  // requestor_loss.cc
  void infer_losses(Time now, Psn from, std::uint64_t missing);
  void doubt(Time now, Psn psn, const Record& record);
  void ask(Time now, Psn psn, EvSlot slot);
  void ask_if_waiting(Time now, EvSlot slot);
  void note_if_quiet(PortId port, TxOrder overdue);
  bool is_quiet(PortId port, TxOrder order) const;
  void lose(Time now, Psn psn, LossCause cause);
  void lose_silent(Time now);
  void check_oldest(Time now);
  void retry(Time now);
  Duration suspicion(EvSlot s) const;
  Duration patience(EvSlot s) const;
  Duration base_timeout() const { return Duration(std::int64_t{1024} << settings_.timeout); }
  Duration retry_timeout() const;
  std::uint32_t size_of(Psn psn);

  Qpn remote_;
  QpLimits limits_;
  RequestorSettings settings_;
  PathSet& paths_;
  Congestion& congestion_;
  const Narrator& say_;
  Flight flight_;
  SendQueue queue_;
  PathClock clock_;
  RequestorCounters counters_;

  TxOrder order_;                    // of the latest transmission
  Ticks heard_;                      // when the newest acknowledged transmission left
  std::uint32_t rcvd_units_ = 0;     // the peer's byte counter, as last reported
  std::uint32_t unasked_bytes_ = 0;  // sent since the last ack request
  std::int64_t charged_ = 0;         // bytes that this QP holds of the congestion window
  std::uint16_t window_;             // PSNs past the cumulative acknowledgement
  std::uint8_t retries_ : 6 = 0;
  std::uint8_t knocks_ : 2 = 0;  // times that it asked in vain whether the peer is there
  bool heard_any_ : 1 = false;
  bool nudge_ : 1 = false;
  bool late_ : 1 = false;  // a packet that others wait for is to be sent once more
  bool asked_reverse_ : 1 = false;
  bool partial_ : 1 = false;     // the next packet waits for no unit
  bool full_sized_ : 1 = false;  // a packet of the path MTU was sent
  bool is_new_ : 1 = true;       // carried nothing yet, in either direction
  std::optional<WorkStatus> failure_;
  std::uint16_t heard_since_asked_ = 0;  // packets
  Ticks asked_reverse_at_;               // when the reverse path was last asked
  Ticks revived_at_;                     // the first progress after a long silence
  Time progress_at_ = Time::min();
  Time check_at_ = kNever;           // when the oldest packet in flight becomes suspicious
  Time repair_after_ = Time::min();  // the peer lacks resources: repairs wait
  Time wake_at_ = kNever;            // when the pacer, or repair_after_, lets go, or a tail is late
};

}  // namespace mrc::engine
