// Where the bytes of posted work are: the segments (or inline bytes) of each work request of one QP, and how
// a packet's share of them is found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/fixed_array.h"
#include "base/ids.h"
#include "nic/region_table.h"

namespace mrc::nic {

struct Sge {
  std::uint64_t va = 0;
  std::uint32_t length = 0;
  RKey lkey;
};

inline constexpr std::size_t kMaxSge = 16;
using Piece = std::span<const std::byte>;

/// Up to kMaxSge runs of local memory that make up one packet's payload.
struct Payload {
  Piece pieces[kMaxSge];
  std::uint8_t count = 0;
};

/// Memory for `depth` works of `max_sge` segments or `max_inline` bytes each. With max_sge 0 nothing is kept:
/// the simulator sends packets without bytes.
class Gather {
 public:
  Gather(std::uint16_t depth, std::uint8_t max_sge, std::uint16_t max_inline);

  bool keeps() const { return max_sge_ != 0; }
  std::uint8_t max_sge() const { return max_sge_; }
  std::uint16_t max_inline() const { return max_inline_; }

  void store(std::uint16_t work, std::span<const Sge> sges);
  /// Copies the bytes now. The addresses are the caller's own; keys don't matter.
  void store_inline(std::uint16_t work, std::span<const Sge> sges);

  /// Bytes [offset, offset + length) of the work. False when a key or a bound is wrong by now: nothing may be
  /// read.
  bool resolve(const RegionTable& regions, PdId pd, std::uint16_t work, std::uint32_t offset,
               std::uint32_t length, Payload& out) const;

 private:
  struct Entry {
    std::uint16_t inline_bytes = 0;
    std::uint8_t sges = 0;
    bool is_inline = false;
  };
  std::uint8_t max_sge_;
  std::uint16_t max_inline_;
  FixedArray<Entry> entries_;
  FixedArray<Sge> sges_;
  FixedArray<std::byte> inline_;
};

}  // namespace mrc::nic
