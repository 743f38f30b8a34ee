// A host in the event loop: the real NIC with its ports, and the program that runs on it.
//
// host_node.cc moves packets and time; host_messages.cc turns the program's messages into writes and
// completions back into events of the program.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/prng.h"
#include "fabric/link.h"
#include "nic/nic.h"
#include "sim/cargo.h"
#include "sim/crew.h"
#include "sim/flow_log.h"
#include "sim/host_plan.h"
#include "sim/peer_map.h"
#include "sim/transit.h"

namespace mrc::sim {

class World;
using Lane = Shard<World>;

/// What one thread counts.
struct alignas(64) Tally {
  std::int64_t pending = 0;        // messages, timers and signals that have not had their effect
  std::int64_t failed = 0;         // messages whose QP gave up
  std::uint64_t data_packets = 0;  // writes that left NICs, repairs too
  std::uint64_t repairs = 0;
  std::uint64_t packets = 0;    // of any kind
  std::uint64_t delivered = 0;  // payload bytes that arrived for the first time
};

class HostNode final : private Actions, private nic::CongestionMaker {
 public:
  HostNode(HostPlan& plan, Host self);

  /// Runs through one window; see Crew for the contract.
  Ps run(Lane& lane, Tally& tally, Ps begin, Ps end, std::span<const Transit> arrivals);

  const HostLog& log() const { return log_; }
  nic::Nic& nic() { return nic_; }
  fabric::Link& port(topo::Plane plane) { return ports_[plane]; }
  const fabric::Link& port(topo::Plane plane) const { return ports_[plane]; }
  /// A fault at one of its own ports. `seen`: the NIC notices.
  void set_port(topo::Plane plane, bool up, Ps now) {
    nic_.set_port(engine_time(now), topo::nic_port(plane), up);
  }

 private:
  static constexpr std::uint32_t kQps =
      16;  // QP numbers below are reserved; a pair calls its QPs kQps, kQps + 1, ...

  /// One QP of a pair. QPs are named by their place in the pair: numbers are agreed on outside the fabric.
  struct PairQp {
    nic::Qp* qp = nullptr;
    std::uint32_t received = 0;          // messages
    std::uint32_t posted = 0;            // of the backlog: those before it have no more writes to post
    std::vector<std::uint32_t> backlog;  // messages to the peer, in order
  };
  struct Connection {
    Host peer = 0;
    std::uint32_t next_sequence = 0;  // of messages to it
    std::vector<PairQp> qps;
  };
  /// A message on its way out.
  struct Sending {
    Message message;
    std::uint32_t record = 0;  // in log_.sent
    std::uint32_t connection = 0;
    std::uint64_t unposted = 0;  // bytes
    std::uint32_t open_writes = 0;
  };
  struct Timer {
    Ps when = 0;
    std::uint64_t order = 0;
    std::uint64_t token = 0;
    bool signal = false;
    bool operator<(const Timer& o) const { return when != o.when ? when > o.when : order > o.order; }
  };

  // Actions
  Ps now() const override { return now_; }
  void send(const Message& message) override;
  void wait(Ps delay, std::uint64_t token) override;
  void signal(Host host, std::uint64_t word) override;
  // CongestionMaker
  std::unique_ptr<engine::Congestion> make(const nic::CongestionRequest& request) override;

  // host_node.cc
  void arrive(const Transit& t);
  void pump();
  void emit(const nic::Departure& departure);
  PortMask ports_with_room() const;
  Ps next_local() const;

  // host_messages.cc
  Connection& connection_to(Host peer);
  nic::Qp* make_qp(Host peer, std::uint32_t connection, std::uint16_t place);
  void post(std::uint32_t connection, std::uint32_t qp);
  bool drain_completions();
  void on_send_done(const nic::Cqe& entry);
  void on_receive_done(const nic::Cqe& entry);
  void fire_timers();
  void hear(const Transit& t);

  HostPlan& plan_;
  const Host self_;
  bool starts_;           // has a part in the workload that has not begun
  Lane* lane_ = nullptr;  // during run()
  Tally* tally_ = nullptr;
  Ps now_ = 0;
  bool wants_port_ = false;  // the NIC has more to send than the free ports could take
  nic::CompletionQueue cq_;
  nic::Nic nic_;
  RKey key_;
  std::vector<fabric::Link> ports_;
  std::vector<Wire> wires_;
  Prng random_;
  PeerMap by_peer_;
  std::vector<Connection> connections_;
  std::vector<Sending> sending_;
  std::vector<std::uint32_t> free_sending_;
  std::vector<Timer> timers_;  // a heap
  std::uint64_t timer_order_ = 0;
  Ps last_signal_ = 0;
  HostLog log_;
};

}  // namespace mrc::sim
