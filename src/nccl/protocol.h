// What the two ends of a connection tell each other.
//
// The receiver owns the order: each of its receives, of up to kGroup buffers, is a Grant, which it writes
// with an immediate into the next slot of a ring in the sender's memory. The sender answers each granted
// buffer with pieces, writes with immediate straight into it; the immediate says which buffer, and how many
// pieces it gets. Pieces may travel on different queue pairs and arrive in any order: the receiver counts
// them and adds their lengths up.
//
// A short message need not wait for its grant. The sender writes it, with its tag, into a ring of the
// receiver, several ahead if need be. It fills the first empty buffer of its tag that is not in one of the
// grants that the sender knew. So both ends find the same buffer for it: a grant says how many early messages
// had come before it, and which of its buffers those have filled already.
//
// While all messages are short, grants are not sent at all: a receive that early messages fill needs none. A
// sender that has something long, or no place left in the ring, asks; then all grants go out, at once each,
// until kShortRun short messages have come in a row again.
#pragma once

#include <bit>
#include <cstdint>

namespace mrc::nccl {

static_assert(std::endian::native == std::endian::little,
              "the layouts below are those of little-endian hosts");

inline constexpr std::uint32_t kProtocol = 6;
inline constexpr std::uint32_t kMagic = 0x4352'4D4F;  // "OMRC"
inline constexpr std::uint32_t kRing = 64;            // receives outstanding
inline constexpr std::uint32_t kGroup = 8;            // receives of one grant
// So that a piece is one write, and NCCL's test() can say its length in an int.
inline constexpr std::uint64_t kMaxMessage = std::uint64_t{1} << 30;

struct GrantedBuffer {
  std::uint64_t address;
  std::uint64_t size;
  std::uint32_t rkey;
  std::int32_t tag;
};
struct Grant {
  std::uint32_t sequence;  // also in the immediate; slot = sequence % kGrants
  std::uint16_t count;
  std::uint16_t filled;   // a bit for each buffer that has its data already
  std::uint32_t arrived;  // early messages, before this grant was made
  std::uint32_t done;     // of those, all before this one have left the ring
  GrantedBuffer buffers[kGroup];
};
static_assert(sizeof(GrantedBuffer) == 24 && sizeof(Grant) == 16 + kGroup * 24);

inline constexpr std::uint32_t kEarlyBytes = 16'384;
inline constexpr std::uint32_t kEarlySlots = 16;  // early messages that may be under way or wait
inline constexpr std::uint32_t kShortRun = 8;     // short messages in a row, after which grants wait
// Grants that the sender may not have looked at: for receives that wait, and for those that early messages
// have filled meanwhile.
inline constexpr std::uint32_t kGrants = 128;
static_assert(kGrants >= kRing + kEarlySlots && kGrants % kEarlySlots == 0);

struct EarlyMessage {
  std::uint32_t sequence;  // no grant before this one has a buffer for it
  std::int32_t tag;
  std::uint32_t size;
  std::uint32_t zero;
  std::uint8_t data[kEarlyBytes];
};
static_assert(sizeof(EarlyMessage) == 16 + kEarlyBytes);

/// The immediate of a piece. One of no pieces is an early message's, and `slot` where it lies; or the
/// sender's question for grants, in slot kAsks.
struct PieceImmediate {
  std::uint32_t slot, buffer, pieces;

  constexpr std::uint32_t word() const { return slot | buffer << 8 | pieces << 12; }
  static constexpr PieceImmediate from(std::uint32_t word) {
    return {word & 0xFF, word >> 8 & 0xF, word >> 12};
  }
};
static_assert(kGrants <= 256 && kGroup <= 16);
inline constexpr std::uint32_t kAsks = kGrants - 1;
static_assert(kAsks >= kEarlySlots);

inline constexpr std::uint32_t kMostQuestions = 64;  // until the receiver says something

/// The immediate of a grant, or one of no grant that only says which early messages have left the ring.
struct GrantImmediate {
  bool only_done;
  std::uint32_t number;  // the grant's sequence, or Grant::done, without their upper bit

  constexpr std::uint32_t word() const { return (only_done ? 1u << 31 : 0u) | (number & 0x7FFF'FFFF); }
  static constexpr GrantImmediate from(std::uint32_t word) { return {word >> 31 != 0, word & 0x7FFF'FFFF}; }
  /// Which number after `before` that is.
  constexpr std::uint32_t after(std::uint32_t before) const {
    return before + ((number - before) & 0x7FFF'FFFF);
  }
};

/// What each end has for the other to write into: grants come to senders, early messages to receivers. What
/// an end sends it keeps where the other has it, until it has arrived.
struct Rings {
  Grant grants[kGrants];
  EarlyMessage early[kEarlySlots];
};

/// Beside the queue pairs, at the beginning.
struct Introduction {
  std::uint32_t magic = kMagic;
  std::uint32_t protocol = kProtocol;
  std::uint64_t cookie = 0;  // of the handle, the caller's or the listener's: shows that this is who is meant
  std::uint64_t ring_address =
      0;  // of Rings: the other writes grants at the sender, early messages at the receiver
  std::uint32_t ring_rkey = 0;
  std::uint32_t ring_slots = 0;
};
static_assert(sizeof(Introduction) == 32);

}  // namespace mrc::nccl
