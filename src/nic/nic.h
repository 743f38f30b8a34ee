// The software NIC, at the level of packet values: the same object behind sockets and in the simulator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "base/counters.h"
#include "base/prng.h"
#include "engine/queue_pair.h"
#include "nic/endpoint.h"
#include "nic/peer.h"
#include "nic/probe_budget.h"
#include "nic/qp.h"
#include "nic/qp_table.h"
#include "nic/region_table.h"
#include "nic/scheduler.h"
#include "nic/settings.h"
#include "wire/verdict.h"

namespace mrc::nic {

/// What a congestion controller is made for and from.
struct CongestionRequest {
  std::uint64_t cc_profile;
  const Peer& peer;
  std::uint16_t path_mtu;
  engine::CongestionHints hints;  // of the QP that asks
  std::uint32_t seed;             // its own: senders that pace must not pace in step
};

/// Makes congestion controllers: one per destination and CC profile, when the first QP of the two meets.
class CongestionMaker {
 public:
  virtual std::unique_ptr<engine::Congestion> make(const CongestionRequest& request) = 0;

 protected:
  ~CongestionMaker() = default;
};

/// Who the NIC tells about what nobody polls. Called from within inputs and poll_transmit; must not call the
/// NIC back.
class Observer {
 public:
  virtual void on_cq_notify(CompletionQueue&) {}             // an armed CQ has what it waited for
  virtual void on_cq_overrun(CompletionQueue&) {}            // once per CQ
  virtual void on_qp_error(Qp&) {}                           // a QP left for ERR by itself
  virtual void on_established(Qp&) {}                        // first packet accepted in RTR
  virtual void on_endpoint_result(const EndpointResult&) {}  // post_endpoint was answered, or not in time
  virtual void on_peer_ports(const Peer&, PortMask) {}       // a peer told us about its ports
  virtual void on_local_port(PortId, bool) {}                // set_port changed something
  /// Work with a tag completed. It may change the entry; false keeps it out of the CQ.
  virtual bool on_tagged(Qp&, Cqe&) { return true; }

 protected:
  ~Observer() = default;
};

struct NicConfig {
  NicLimits limits;
  QpnSpan qpns;
  PortMask ports = PortMask::first(1);
  SchedulerSettings scheduler;
  EndpointSettings endpoint;
  ProbeSettings probes;
  PathTable paths;                        // for QPs that name none, and for endpoint operations
  CongestionMaker* congestion = nullptr;  // required
  Observer* observer = nullptr;
  engine::EventSink* sink = nullptr;  // what the engines narrate
  RegionTable::Secret key_secret{};   // remote keys are as hard to guess as this
  std::uint64_t seed = 0;
};

struct SendRequest {
  engine::SendWork work;
  std::span<const Sge> sges;  // read during the call only
  bool inline_data = false;   // sge addresses are read now, whatever their keys
};

/// One packet to put on the wire.
struct Departure {
  engine::Transmit transmit;  // packet and envelope
  Gid to;                     // the peer's address at that port
  std::uint32_t peer = 0;     // Peer::index; kNoPeer for endpoint packets
  std::uint8_t dscp = kDscpByClass;
  const Carrier* carrier = nullptr;  // SRv6: the outer header; valid until the next call
  Payload payload;                   // bytes to gather; empty where the NIC keeps none
};
inline constexpr std::uint32_t kNoPeer = ~std::uint32_t{0};

/// QPs, memory regions and endpoint operations of one device, without bytes on a wire, sockets, clock or
/// lock.
///
///   in    handle             one arrival. The Verdict is counted. The payload of an accepted write is copied
///   to its place
///                            here; a payload span may be empty where the region has no host memory
///                            (simulator).
///         handle_timeout     next_timeout() has passed
///         set_port           a local port went down or came up: QPs move, peers are told until they answer
///         create/connect/start/stop/reset/destroy of QPs, regions, post_send, post_receive, post_endpoint
///   out   poll_transmit      the next packet for one of the ports that have room: endpoint answers, control
///   packets, then
///                            data by service level. Call until false: only then are completions in their CQs
///                            and next_timeout() up to date. An empty mask drains without sending.
///         next_timeout       when to call handle_timeout at the latest
///         CQs, the Observer
///
/// Nothing allocates per packet: memory is sized by NicLimits, and by each QP when it is made.
/// REQUIRES: one thread at a time (CQs have their own rule); CQs, maker, observer and sink outlive the NIC's
/// use of them.
class Nic {
 public:
  explicit Nic(const NicConfig& config);
  ~Nic();
  Nic(const Nic&) = delete;
  Nic& operator=(const Nic&) = delete;

  // --- memory ---
  RegionTable& regions() { return regions_; }

  // --- QPs ---
  /// nullptr when the table is full.
  Qp* create_qp(const QpCreate& create) { return qps_.create(create); }
  Qp* find(Qpn qpn) const { return qps_.find(qpn); }
  int init(Qp& qp);                                         // RESET -> INIT
  int connect(Time now, Qp& qp, const QpConnect& connect);  // INIT -> RTR
  int start(Time now, Qp& qp, const QpSend& send);          // RTR -> RTS
  int adjust(Qp& qp, const QpAdjust& to);                   // RTR or RTS: what may change while it runs
  int stop(Time now, Qp& qp);                               // any -> ERR: everything outstanding is flushed
  int reset(Time now, Qp& qp);  // any -> RESET: everything outstanding is forgotten
  /// Its completions are taken out of its CQs. REQUIRES: nobody polls those at the moment.
  void destroy_qp(Time now, Qp& qp);
  std::uint32_t qp_count() const { return qps_.size(); }

  int post_send(Time now, Qp& qp, const SendRequest& request);
  int post_receive(Qp& qp, std::uint64_t wr_id);
  bool set_ev_state(Time now, Qp& qp, EvSlot slot, engine::EvState state);

  // --- packets and time ---
  Verdict handle(Time now, const wire::Packet& packet, const wire::Envelope& envelope, const Gid& source,
                 std::span<const std::byte> payload);
  /// A packet to this QP will be handled soon.
  void expect(Qpn qpn) const {
    if (const Qp* qp = qps_.guess(qpn)) qp->prefetch();
  }
  bool poll_transmit(Time now, PortMask room, Departure& out);
  /// The same, except that control packets of QPs wait. See Driver::glance.
  bool poll_data(Time now, PortMask room, Departure& out);
  /// Control packets wait to be sent. REQUIRES: poll_transmit said no, or was asked with an empty mask.
  bool has_control() const { return !scheduler_.control.empty(); }
  /// After poll_transmit said no: something waits for a port that had no room.
  bool wants_port() const { return scheduler_.ready() > 0 || !scheduler_.control.empty(); }
  Time next_timeout() const { return timers_.earliest(); }
  void handle_timeout(Time now);

  // --- ports and endpoint operations ---
  void set_port(Time now, PortId port, bool up);
  PortMask ports_up() const { return up_; }
  int post_endpoint(Time now, const EndpointWork& work) { return endpoint_.post(now, work); }
  /// How many more can be posted; and no result for one whose poster no longer waits.
  std::size_t endpoint_room() const { return endpoint_.room(); }
  void cancel_endpoint(std::uint64_t cookie) { endpoint_.cancel(cookie); }
  /// What somebody said to another process of this node. `answered`: that one answers, whoever it is.
  void overhear(Time now, const wire::Packet& packet, const wire::Envelope& envelope, const Gid& source,
                bool answered);

  const Counters<Verdict, kVerdictCount>& verdicts() const { return verdicts_; }
  const engine::RecordPool& pool() const { return pool_; }
  template <class Each>
  void for_each_qp(Each&& each) {
    qps_.for_each(each);
  }

 private:
  // nic.cc: QPs
  CongestionContext& context_for(Peer& peer, const QpConnect& connect);
  void set_level(Qp& qp, std::uint8_t level);
  void attach(Time now, Qp& qp, const QpConnect& connect);
  void detach(Time now, Qp& qp);
  int flush_receive(Qp& qp, std::uint64_t wr_id);

  // nic_receive.cc
  Verdict deliver(Time now, const wire::Packet& packet, const wire::Envelope& envelope, const Gid& source,
                  std::span<const std::byte> payload);
  Verdict deliver_endpoint(Time now, const wire::Packet& packet, const wire::Envelope& envelope,
                           const Gid& source);
  bool note_peer_ports(Time now, const Gid& source, PortMask up);

  // nic_transmit.cc
  void touch(Qp& qp) { touched_.push_back(qp); }
  void end_run();
  void settle(Time now);
  void settle(Time now, Qp& qp);
  void share_doubt(Time now, Qp& knows, PortId port);
  void share_doubt(Time now, Qp& knows, EvSlot ev);
  void complete(Time now, Qp& qp, const engine::Completion& done);
  void queue(Qp& qp);
  void wait_for_window(Time now, Qp& qp);
  void limit_wait(Time now, Qp& qp);
  void handle_congestion_timeout(Time now, CongestionContext& context);
  void wake(CongestionContext& context);
  static void redeem(Qp& qp, std::uint32_t bytes) {
    const std::uint32_t used = std::min(qp.promised, bytes);
    qp.promised -= used;
    if (used != 0) qp.context->promised -= used;
  }
  void leave_turn(Qp& qp) {
    redeem(qp, qp.promised);
    scheduler_.park(qp);
  }
  void wake_for_records();
  bool send_endpoint(Time now, PortMask room, Departure& out);
  bool send_control(Time now, PortMask room, Departure& out);
  bool send_data(Time now, PortMask room, Departure& out, bool control = true);
  bool send_from(Time now, Qp& qp, PortMask room, Departure& out, bool control = true);
  void park(Time now, Qp& qp);
  bool may_ask(Time now, const Qp& qp) { return probe_budget_.allows(now) && (asking_.empty() || qp.called); }
  void wake_askers(Time now);
  void uncall(Qp& qp) {
    if (std::exchange(qp.called, false)) --called_;
  }

  NicConfig config_;
  Observer& observer_;
  engine::RecordPool pool_;
  engine::Incoming incoming_;
  RegionTable regions_;
  PeerTable peers_;
  TimerHeap timers_;
  QpTable qps_;
  Scheduler scheduler_;
  ProbeBudget probe_budget_;
  Endpoint endpoint_;
  List<Qp, TouchTag> touched_;
  LevelQueue starved_;        // of records
  List<Qp, AskTag> asking_;   // have probes that wait for the budget
  std::uint32_t called_ = 0;  // QPs of those whose turn it is
  Timed probe_clock_{TimedKind::probes};
  Qp* sending_ = nullptr;  // sent the last packet, and is not settled yet
  PortMask up_;
  Prng seeds_;  // of congestion controllers
  Counters<Verdict, kVerdictCount> verdicts_;
};

}  // namespace mrc::nic
