// What the two ends of a connection tell each other.
//
// The receiver owns the order: each of its receives, of up to kGroup buffers, is a Grant, which it writes
// with an immediate into the next slot of a ring in the sender's memory. The sender answers each granted
// buffer with pieces, writes with immediate straight into it; the immediate says which buffer, and how many
// pieces it gets. Pieces may travel on different queue pairs and arrive in any order: the receiver counts
// them and adds their lengths up.
//
// A short message need not wait for its grant. The sender writes it, with its tag, into a ring of the
// receiver; it fills the first buffer of that tag in the grants from the one on that it names. One at a time
// is under way like this, and nothing else of its tag, so that both ends find the same buffer for it.
#pragma once

#include <bit>
#include <cstdint>

namespace mrc::nccl {

static_assert(std::endian::native == std::endian::little,
              "the layouts below are those of little-endian hosts");

inline constexpr std::uint32_t kProtocol = 2;
inline constexpr std::uint32_t kMagic = 0x4352'4D4F;                  // "OMRC"
inline constexpr std::uint32_t kRing = 64;                            // grants outstanding
inline constexpr std::uint32_t kGroup = 8;                            // receives of one grant
inline constexpr std::uint64_t kMaxMessage = std::uint64_t{1} << 31;  // so that a piece is one write

struct GrantedBuffer {
  std::uint64_t address;
  std::uint64_t size;
  std::uint32_t rkey;
  std::int32_t tag;
};
struct Grant {
  std::uint32_t sequence;  // also the immediate; slot = sequence % kRing
  std::uint32_t count;
  GrantedBuffer buffers[kGroup];
};
static_assert(sizeof(GrantedBuffer) == 24 && sizeof(Grant) == 8 + kGroup * 24);

inline constexpr std::uint32_t kEarlyBytes = 192;
struct EarlyMessage {
  std::uint32_t sequence;  // no grant before this one has a buffer for it
  std::int32_t tag;
  std::uint32_t size;
  std::uint32_t zero;
  std::uint8_t data[kEarlyBytes];
};
static_assert(sizeof(EarlyMessage) == 16 + kEarlyBytes);

/// The immediate of a piece. One of no pieces is an early message's, and `slot` where it lies.
struct PieceImmediate {
  std::uint32_t slot, buffer, pieces;

  constexpr std::uint32_t word() const { return slot | buffer << 8 | pieces << 12; }
  static constexpr PieceImmediate from(std::uint32_t word) {
    return {word & 0xFF, word >> 8 & 0xF, word >> 12};
  }
};
static_assert(kRing <= 256 && kGroup <= 16);

/// Beside the queue pairs, at the beginning.
struct Introduction {
  std::uint32_t magic = kMagic;
  std::uint32_t protocol = kProtocol;
  std::uint64_t cookie = 0;  // of the handle: shows that the sender got it from whom it thinks
  std::uint64_t ring_address =
      0;  // where the other writes: grants at the sender, early messages at the receiver
  std::uint32_t ring_rkey = 0;
  std::uint32_t ring_slots = 0;
};
static_assert(sizeof(Introduction) == 32);

}  // namespace mrc::nccl
