// Datagrams whose next hop the kernel is still looking for, as it holds them itself for its own sockets.
#pragma once

#include <deque>
#include <vector>

#include "port/port.h"

namespace mrc::port {

class HeldPackets {
 public:
  bool empty() const { return all_.empty(); }
  /// Copies it; false when too many wait already. REQUIRES: train.packets == 1.
  bool add(const TxTrain& train);
  /// Offers each, the oldest first, to `take`, which says whether it is dealt with: then it is gone.
  template <class Take>
  void offer(Take&& take) {
    std::erase_if(all_, [&](Held& held) { return take(held.train()); });
  }

 private:
  static constexpr std::size_t kMost = 512;

  /// Its train points into it: made where it stays.
  struct Held {
    explicit Held(const TxTrain& of);
    TxTrain train();
    std::vector<std::byte> bytes;
    iovec piece{};
    TxTrain what;
    Address to, outer, outer_next;
  };
  std::deque<Held> all_;
};

}  // namespace mrc::port
