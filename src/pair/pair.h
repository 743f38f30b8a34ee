// Two engines and a network between them, in virtual time: the fixture of stories, storms and recovery
// figures.
#pragma once

#include <functional>
#include <memory>

#include "pair/endpoint.h"
#include "pair/network.h"

namespace mrc::pair {

using MakeCongestion = std::function<std::unique_ptr<engine::Congestion>()>;

struct PairConfig {
  int ports = 1;
  int evs_per_port = 16;
  double bytes_per_us = 12500;  // of each port: 100 Gb/s
  Duration delay = 5us;         // one way, every path
  std::size_t records = 8192;   // packets in flight, all QPs of an endpoint
  std::size_t memory = 1 << 20;
  engine::QpLimits limits;
  engine::RequestorSettings requestor;
  engine::ResponderSettings responder;
  engine::PathSettings paths;
  Psn psn[2] = {Psn(0), Psn(0)};
  MakeCongestion congestion;  // none: a window of 1.5 BDP that never moves
  std::uint64_t seed = 1;
};

/// EVs 1.., dealt to ports in turn: slot i leaves by port i % ports + 1.
std::vector<engine::Path> make_paths(int ports, int evs_per_port);

class Pair {
 public:
  explicit Pair(const PairConfig& config, engine::EventSink* sink = nullptr);

  Endpoint& side(int i) { return *ends_[i]; }
  Network& network() { return network_; }
  Time now() const { return now_; }
  Duration base_rtt() const { return 2 * config_.delay; }

  /// Posts a write of `length` bytes at `offset` of the peer's memory.
  engine::QueuePair::Posted write(int from, std::uint64_t wr_id, std::uint32_t offset, std::uint32_t length,
                                  std::optional<std::uint32_t> imm = {});

  /// The next event, at next_event(); kNever when nothing will ever happen again.
  void step();
  Time next_event();
  /// Until `done()`, or until `limit` has passed. True when done.
  bool run_until(const std::function<bool()>& done, Duration limit);
  void run_for(Duration d) {
    run_until([] { return false; }, d);
  }
  /// Something changed from outside (a post, a port): let both ends act on it.
  void kick();
  void set_port(int side, PortId port, bool up, bool tell_peer = true);
  /// The end hears and does nothing for a while: to it, the clock jumps.
  void pause(int side, Duration d);

  const std::vector<engine::Path>& paths() const { return paths_; }

 private:
  void drain(int side);
  void arrive(const Arrival& a);

  PairConfig config_;
  std::vector<engine::Path> paths_;
  Network network_;
  std::unique_ptr<Endpoint> ends_[2];
  Time now_{};
  Time wake_[2] = {kNever, kNever};  // a port that was busy frees up
  Time asleep_until_[2] = {Time::min(), Time::min()};
  PortMask up_[2];
};

}  // namespace mrc::pair
