// A world small enough to reason about: N senders, one queue, one receiver. Each sender has its own link of
// the same rate and its own congestion controller; the queue is the receiver's port (trims, no marks) or a
// port inside the fabric (trims and marks). Repair is perfect, so what is seen is congestion control alone.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "base/prng.h"
#include "engine/congestion.h"
#include "engine/nscc_config.h"

namespace mrc::testing {

using Picos = std::int64_t;

struct BottleneckConfig {
  engine::LinkFacts link;
  Duration propagation = 4us;  // one way, half before the queue and half after it
  double queue_bdp = 1.0;      // packets beyond this are trimmed (or dropped)
  double cut_bdp = 1000;       // trimmed packets beyond this are lost (EngineWorld only)
  bool trimming = true;
  bool last_hop = true;  // a port toward a host: trims say so, nothing is marked
  double mark_low_bdp = 0.2, mark_high_bdp = 0.8;
  std::uint32_t trimmed_bytes = 128;
  std::uint32_t sack_bytes = 16 * 1024;
  std::uint64_t eager_sacks =
      16;  // a trim makes the receiver answer one later packet at once; so many owed at most
  std::uint64_t seed = 1;

  Duration base_rtt() const;  // on an empty queue
};

struct FlowStats {
  std::uint64_t sent = 0, delivered = 0, trims = 0, losses = 0;  // packets
  Picos finished = -1;                                           // last byte at the receiver
};

class Bottleneck {
 public:
  using Controllers = std::function<std::unique_ptr<engine::Congestion>(int flow)>;

  Bottleneck(const BottleneckConfig& config, int flows, const Controllers& make);

  /// `packets` full-size packets become ready to send at `start`.
  void offer(int flow, std::uint64_t packets, Duration start = {});
  /// From here on each packet is lost with this probability, after the queue.
  void set_loss(double probability) { loss_ = probability; }
  /// One more of the next packets to arrive at the queue is trimmed inside the fabric, or lost.
  void lose_next(bool trimmed) { ++(trimmed ? trim_next_ : lose_next_); }
  /// From here on each SACK carries this penalty; restore is sent once.
  void set_penalty(std::uint8_t penalty, bool restore) { penalty_ = penalty, restore_ = restore; }

  /// Until nothing is left to do, or `limit`.
  void run(Duration limit = 1s);
  Duration now() const { return Duration(now_ / 1000); }

  engine::Congestion& controller(int flow) { return *flows_[flow].cc; }
  const FlowStats& stats(int flow) const { return flows_[flow].stats; }
  std::uint64_t queued_bytes() const { return data_bytes_; }
  std::uint64_t idle_picos() const { return idle_; }

 private:
  struct Packet {
    int flow;
    bool repair;
    bool ask;
    bool marked;
    Picos sent;
  };
  struct Flow {
    std::unique_ptr<engine::Congestion> cc;
    FlowStats stats;
    std::uint64_t fresh = 0, repairs = 0, wanted = 0;
    std::uint64_t unreported = 0, unsacked = 0;  // receiver: bytes since the last report, since the last SACK
    std::uint64_t eager = 0;                     // receiver: packets to answer at once, after trims
    std::uint64_t unasked = 0;                   // sender: bytes since the last A bit
    Picos port_free = 0, wake = -1, probe = 0;
  };
  enum class What : std::uint8_t {
    offer,
    wake,
    at_queue,
    served,
    at_receiver,
    sack,
    cut_here,
    trim_nack,
    fabric_trim,
    loss,
    probe
  };
  struct Event {
    Picos when;
    std::uint64_t order;
    What what;
    Packet packet;
    std::uint64_t amount = 0;
    bool operator<(const Event& o) const { return when != o.when ? when > o.when : order > o.order; }
  };

  void at(Picos when, What what, const Packet& p, std::uint64_t amount = 0);
  void handle(const Event& e);
  void try_send(int flow);
  void send_one(Flow& f, int flow);
  void arrive(Packet p);
  void trim(const Packet& p);
  void serve();
  void deliver(const Packet& p);
  void report(const Packet& p);
  void probe(const Packet& p);
  void sack(const Event& e);
  bool mark();
  /// From the queue to the receiver and, as news, to the sender.
  Picos fate_after() const { return config_.propagation.count() * 1500; }
  Time time() const { return Time(Duration(now_ / 1000)); }
  Picos wire_time(std::uint64_t bytes) const;

  BottleneckConfig config_;
  Prng prng_;
  std::vector<Flow> flows_;
  std::priority_queue<Event> events_;
  std::uint64_t order_ = 0;
  Picos now_ = 0, last_busy_ = 0;
  std::deque<Packet> data_, cut_;
  std::uint64_t data_bytes_ = 0, idle_ = 0;
  bool busy_ = false, restore_ = false;
  double loss_ = 0;
  int trim_next_ = 0, lose_next_ = 0;
  std::uint8_t penalty_ = 0;
};

}  // namespace mrc::testing
