// A host in the event loop, whatever its transport: a program with its timers and signals, ports with their
// wires, and the run through one window. What moves messages is the derived class's: the MRC NIC
// (host_node.h), or the RoCEv2 baseline (roce_host.h).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/prng.h"
#include "fabric/link.h"
#include "sim/cargo.h"
#include "sim/crew.h"
#include "sim/flow_log.h"
#include "sim/host_plan.h"
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

class ProgramHost : protected Actions {
 public:
  virtual ~ProgramHost() = default;

  /// Runs through one window; see Crew for the contract.
  Ps run(Lane& lane, Tally& tally, Ps begin, Ps end, std::span<const Transit> arrivals);

  const HostLog& log() const { return log_; }
  fabric::Link& port(topo::Plane plane) { return ports_[plane]; }
  const fabric::Link& port(topo::Plane plane) const { return ports_[plane]; }
  /// A fault at one of its own ports that both ends notice.
  virtual void set_port(topo::Plane plane, bool up, Ps now) = 0;
  /// QPs of the MRC NIC that are alive, and whom they speak to.
  using QpVisitor = std::function<void(Host peer, nic::Qp& qp)>;
  virtual void visit_qps(const QpVisitor&) {}
  /// Of each QP that it has or had.
  virtual std::vector<QpCount> qp_counts() = 0;

 protected:
  ProgramHost(HostPlan& plan, Host self);

  // What a transport does.
  virtual void arrive(const Transit& t) = 0;
  /// Sends what may leave now, and turns what completed into events of the program.
  virtual void pump() = 0;
  virtual Ps next_transport() const = 0;
  virtual void handle_timeout() = 0;
  /// A word from the transport at another host, outside the fabric (signal_transport).
  virtual void hear_transport(Host, std::uint64_t) {}

  void signal_transport(Host host, std::uint64_t word);
  /// The earliest time after now at which a busy port is free again.
  Ps next_free_port() const;

  // Actions
  Ps now() const override { return now_; }
  void wait(Ps delay, std::uint64_t token) override;
  void signal(Host host, std::uint64_t word) override;

  HostPlan& plan_;
  const Host self_;
  Lane* lane_ = nullptr;  // during run()
  Tally* tally_ = nullptr;
  Ps now_ = 0;
  std::vector<fabric::Link> ports_;
  std::vector<Wire> wires_;
  Prng random_;
  HostLog log_;

 private:
  struct Timer {
    Ps when = 0;
    std::uint64_t order = 0;
    std::uint64_t token = 0;
    bool signal = false;
    bool operator<(const Timer& o) const { return when != o.when ? when > o.when : order > o.order; }
  };

  Ps next_local() const;
  void take(const Transit& t);
  void fire_timers();
  void hear(const Transit& t);
  void deliver_word(Host host, std::uint64_t word, std::uint32_t kind);

  bool starts_;                // has a part in the workload that has not begun
  std::vector<Timer> timers_;  // a heap
  std::uint64_t timer_order_ = 0;
  Ps last_signal_ = 0;
};

}  // namespace mrc::sim
