// A network of parallel paths between two endpoints, in virtual time: what it does to a packet, and when it
// arrives.
//
// Each port has a rate and each EV its own path with a delay of its own; packets of one path stay in order,
// packets of different paths do not. Everything bad that can happen on a path is a number here.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "base/prng.h"
#include "engine/rotation.h"
#include "engine/types.h"

namespace mrc::pair {

/// One direction of one path.
struct Lane {
  Duration delay = 5us;
  double loss = 0, duplicate = 0, trim = 0, mark = 0, corrupt = 0;
  Duration jitter{0};  // added at random, order on the path kept
  bool dead = false;
  Time last_arrival = Time::min();
};

struct Arrival {
  Time when;
  std::uint64_t order = 0;  // ties go to the packet sent first
  int side = 0;             // who receives
  wire::Packet packet;
  wire::Envelope envelope;
  std::uint16_t work = 0;
  std::uint32_t offset = 0;
};

struct NetworkCounters {
  std::uint64_t sent = 0, delivered = 0, lost = 0, duplicated = 0, trimmed = 0, marked = 0, corrupted = 0;
};

class Network {
 public:
  /// `rate`: bytes per microsecond of each port. Paths are the same EVs in both directions.
  Network(std::span<const engine::Path> paths, double bytes_per_us, std::uint64_t seed);

  Lane& lane(int from, std::size_t slot) { return lanes_[static_cast<std::size_t>(from)][slot]; }
  template <class Change>
  void for_each_lane(Change&& change) {
    for (auto& direction : lanes_) {
      for (auto& l : direction) change(l);
    }
  }
  void for_port(PortId port, const std::function<void(Lane&)>& change);

  /// Ports of `side` that can take a packet now, and when the next one can.
  PortMask room(int side, Time now) const;
  Time next_room(int side, Time now) const;
  bool set_port(int side, PortId port, bool up);

  void send(Time now, int from, const engine::Transmit& t);
  bool empty() const { return flying_.empty(); }
  Time next_arrival() const { return flying_.empty() ? kNever : flying_.top().when; }
  Arrival pop();
  /// Puts an arrival back for later.
  void postpone(Arrival a, Time until);

  const NetworkCounters& counters() const { return counters_; }
  std::size_t in_flight() const { return flying_.size(); }
  /// Sees each packet as it is sent; returning false loses it. For scripted tests.
  std::function<bool(Time, int, const engine::Transmit&)> filter;

 private:
  struct Later {
    bool operator()(const Arrival& a, const Arrival& b) const {
      return a.when != b.when ? a.when > b.when : a.order > b.order;
    }
  };
  void deliver(Time now, int from, Lane& lane, Arrival arrival);

  std::vector<engine::Path> paths_;
  std::vector<Lane> lanes_[2];
  Time busy_until_[2][kMaxPorts + 1] = {};
  PortMask ports_, down_[2];
  double bytes_per_us_;
  Prng prng_;
  std::priority_queue<Arrival, std::vector<Arrival>, Later> flying_;
  std::uint64_t order_ = 0;
  NetworkCounters counters_;
};

}  // namespace mrc::pair
