// The bottleneck again, with whole engines: N real senders and their N real responders behind one port that
// trims. What bottleneck.h assumes of requestor and responder (A bits, answers, repair, pacing), this world
// finds out.
#pragma once

#include <deque>
#include <memory>
#include <queue>
#include <vector>

#include "bottleneck.h"
#include "engine/constant_window.h"
#include "engine/queue_pair.h"

namespace mrc::testing {

struct EngineFlowStats {
  std::uint64_t data = 0, trims = 0, lost = 0, sacks = 0, nacks = 0;  // packets
  Picos finished = -1;                                                // the send completed
};

class EngineWorld {
 public:
  EngineWorld(const BottleneckConfig& config, int flows, const Bottleneck::Controllers& make);

  /// One write of `packets` full packets.
  void offer(int flow, std::uint32_t packets, Duration start = {});
  void run(Duration limit = 1s);

  engine::Congestion& controller(int flow) { return *flows_[flow]->cc; }
  const engine::RequestorCounters& requestor(int flow) const {
    return flows_[flow]->tx.requestor().counters();
  }
  const engine::QueuePair& tx(int flow) const { return flows_[flow]->tx; }
  const EngineFlowStats& stats(int flow) const { return flows_[flow]->stats; }
  std::uint64_t idle_picos() const { return idle_; }

 private:
  struct Anything final : engine::Memory {
    Access check(RKey, std::uint64_t, std::uint32_t) override { return Access::ok; }
  };
  struct Flow {
    Flow(const engine::QpConfig& sender, const engine::QpConfig& receiver,
         std::unique_ptr<engine::Congestion> c)
        : cc(std::move(c)), pool(2048), peer_pool(64), tx(sender, *cc, pool), rx(receiver, none, peer_pool) {}
    std::unique_ptr<engine::Congestion> cc;
    engine::NoCongestionControl none;
    engine::RecordPool pool, peer_pool;
    engine::QueuePair tx, rx;
    EngineFlowStats stats;
    std::uint32_t wanted = 0;
    Picos port_free = 0, wake = -1;
  };
  enum class What : std::uint8_t { offer, wake, at_queue, served, at_receiver, at_sender };
  struct Event {
    Picos when;
    std::uint64_t order;
    What what;
    int flow;
    wire::Packet packet;
    wire::Envelope envelope;
    bool operator<(const Event& o) const { return when != o.when ? when > o.when : order > o.order; }
  };

  void at(Picos when, What what, int flow, const wire::Packet& p = {}, const wire::Envelope& e = {});
  void handle(Event& e);
  void drain_sender(int flow);
  void drain_receiver(int flow);
  void plan_wake(int flow, Picos port_free);
  void arrive(Event& e);
  void serve();
  Time time() const { return Time(Duration(now_ / 1000)); }
  Picos wire_time(double bytes) const { return static_cast<Picos>(bytes * 8e12 / rate_); }

  BottleneckConfig config_;
  double rate_;
  std::vector<engine::Path> paths_;
  std::vector<std::unique_ptr<Flow>> flows_;
  std::priority_queue<Event> events_;
  std::deque<Event> data_, cut_;
  Anything memory_;
  std::uint64_t order_ = 0, data_bytes_ = 0, idle_ = 0;
  Picos now_ = 0, last_busy_ = 0;
  bool busy_ = false;
};

}  // namespace mrc::testing
