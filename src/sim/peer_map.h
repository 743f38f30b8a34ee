// From a peer's host number to what is kept about it: a small open table, because it is asked for every
// packet.
#pragma once

#include <cstdint>
#include <vector>

namespace mrc::sim {

class PeerMap {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::uint32_t find(std::uint32_t host) const {
    for (std::size_t at = home(host);; at = (at + 1) & mask()) {
      if (slots_[at].host == host) return slots_[at].index;
      if (slots_[at].host == kNone) return kNone;
    }
  }
  /// REQUIRES: not in yet.
  void add(std::uint32_t host, std::uint32_t index) {
    if (++size_ * 2 > slots_.size()) grow();
    put({host, index});
  }

 private:
  struct Slot {
    std::uint32_t host = kNone;
    std::uint32_t index = 0;
  };
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t home(std::uint32_t host) const { return (host * 0x9E3779B1u >> 7) & mask(); }
  void put(const Slot& slot) {
    std::size_t at = home(slot.host);
    while (slots_[at].host != kNone) at = (at + 1) & mask();
    slots_[at] = slot;
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.host != kNone) put(slot);
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(4);
  std::size_t size_ = 0;
};

}  // namespace mrc::sim
