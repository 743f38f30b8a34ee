// A bad network in a box: loses, delays, duplicates and corrupts what arrives, by a seed. Reordering is delay
// that differs. Wrap both ends to hurt both directions. Works on what arrives because arriving packets stand
// alone, trains don't.
#pragma once

#include <vector>

#include "base/prng.h"
#include "base/time.h"
#include "port/fd.h"
#include "port/wrapped_port.h"

namespace mrc::port {

struct FaultPlan {
  std::uint64_t seed = 1;
  double loss = 0;  // probability of each, per packet
  double duplicate = 0;
  double corrupt = 0;  // one bit flips
  double delay = 0;
  Duration delay_least = 10us;
  Duration delay_most = 200us;
  std::uint32_t slots = 512;  // packets held at once; beyond, packets are lost
};

struct FaultCounts {
  std::uint64_t lost = 0, duplicated = 0, corrupted = 0, delayed = 0;
};

class FaultPort final : public WrappedPort {
 public:
  static Result<std::unique_ptr<FaultPort>> open(std::unique_ptr<Port> inner, const FaultPlan& plan);

  std::size_t rx(std::span<RxPacket> out) override;
  int wait_fd() const override { return epoll_.get(); }
  const FaultCounts& faults() const { return counts_; }
  /// From now on another plan; what is held stays held. Its seed and slots are not looked at.
  void change(const FaultPlan& plan);

 private:
  /// A copy of a packet: free, waiting until it is due, or shown by the last rx().
  struct Held {
    std::int64_t due = 0;
    std::uint64_t order = 0;  // of arrival: decides between those due at once
    Address from, to;
    RxPacket packet;
    std::vector<std::byte> bytes;
  };
  static bool later(const Held* a, const Held* b) {
    return a->due != b->due ? a->due > b->due : a->order > b->order;
  }

  FaultPort(std::unique_ptr<Port> inner, const FaultPlan& plan, Fd epoll, Fd timer);
  Held* keep(const RxPacket& packet, std::int64_t due);
  void suffer(const RxPacket& packet, std::int64_t now);
  std::size_t release(std::span<RxPacket> out, std::int64_t now);
  void arm();

  FaultPlan plan_;
  Prng random_;
  Fd epoll_;
  Fd timer_;
  std::vector<Held> held_;
  std::vector<Held*> free_;
  std::vector<Held*> waiting_;  // a heap, the next due at the front
  std::vector<Held*> shown_;
  std::uint64_t arrivals_ = 0;
  FaultCounts counts_;
};

}  // namespace mrc::port
