// Registered memory: which bytes a key opens, for whom, and for how long.
//
// A key is 32 bits out of a keyed function of a counter, so that holding some keys says nothing about the
// others, and it is found by hash, so that nothing about the table shows in it. A removed region is gone for
// the very next packet.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/fixed_array.h"
#include "base/ids.h"
#include "engine/types.h"

namespace mrc::nic {

using PdId = Id<struct PdTag, std::uint32_t>;

/// `va` is what peers and work requests call the first byte; `host` is where it is here. Without `host` (in
/// the simulator) everything is checked and nothing is copied.
struct Region {
  std::uint64_t va = 0;
  std::uint64_t length = 0;
  std::byte* host = nullptr;
  PdId pd;
  bool remote_write = false;

  bool holds(std::uint64_t address, std::uint64_t bytes) const {
    return address >= va && address - va <= length && bytes <= length - (address - va);
  }
  std::byte* at(std::uint64_t address) const { return host == nullptr ? nullptr : host + (address - va); }
};

class RegionTable {
 public:
  using Access = engine::Memory::Access;
  using Secret = std::array<std::uint64_t, 2>;

  RegionTable(std::size_t capacity, Secret secret);

  /// The key of the new region; nothing when the table is full.
  std::optional<RKey> add(const Region& region);
  bool remove(RKey key);
  const Region* find(RKey key) const;
  std::size_t size() const { return size_; }

  /// May a peer of a QP in `pd` write there? `place` becomes the host address when it may and there is one.
  Access check_remote(PdId pd, RKey key, std::uint64_t va, std::uint32_t length, std::byte*& place) const;
  /// May a work request of a QP in `pd` read from there?
  Access check_local(PdId pd, RKey key, std::uint64_t va, std::uint32_t length, std::byte*& place) const;

 private:
  struct Slot {
    RKey key;  // 0: free
    Region region;
  };
  std::size_t home(RKey key) const { return (key.value * 0x9E3779B1u) >> shift_; }
  std::size_t seek(RKey key) const;  // where the key is, or the free slot where it would go
  RKey fresh_key();

  void grow();

  std::size_t capacity_;
  unsigned shift_;
  FixedArray<Slot> slots_;  // at most half full; grows with the number of regions
  std::size_t size_ = 0;
  Secret secret_;
  std::uint64_t counter_ = 0;
};

}  // namespace mrc::nic
