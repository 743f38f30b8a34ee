// What each end knows of messages that went before their grant: which are under way, and which wait for a
// buffer. Numbers count early messages from the beginning, modulo 2^32.
#pragma once

#include <array>
#include <cstdint>

#include "nccl/protocol.h"

namespace mrc::nccl {

/// The sender's.
class EarlySent {
 public:
  bool has_room() const { return next_ - done_ < kEarlySlots; }
  std::uint32_t next() const { return next_; }
  void note_sent(int tag) { at(next_++) = {tag, false}; }
  /// The receiver has taken all before `done` out of the ring. False: that cannot be.
  bool note_done(std::uint32_t done);
  /// Which buffers of a grant are not empty, or will not be when what is under way has come. REQUIRES grants
  /// in their order, each once. A bit more than there are buffers says that the grant makes no sense.
  std::uint32_t fill(const Grant& grant);
  static constexpr std::uint32_t kNonsense = 1u << kGroup;

 private:
  struct Entry {
    int tag;
    bool settled;  // its buffer is known
  };
  Entry& at(std::uint32_t number) { return entries_[number % kEarlySlots]; }
  std::array<Entry, kEarlySlots> entries_{};
  std::uint32_t next_ = 0;
  std::uint32_t arrived_ = 0;  // what the last grant said
  std::uint32_t done_ = 0;
};

/// The receiver's.
class EarlyReceived {
 public:
  std::uint32_t arrived() const { return arrived_; }
  std::uint32_t done() const { return done_; }
  bool has_waiting() const { return done_ != arrived_; }
  /// The next message has come: it lies in slot arrived() - 1. REQUIRES room().
  bool room() const { return arrived_ - done_ < kEarlySlots; }
  void note_arrived() { waits_[arrived_++ % kEarlySlots] = true; }
  bool waits(std::uint32_t number) const { return waits_[number % kEarlySlots]; }
  /// The message is in its buffer.
  void note_taken(std::uint32_t number);

 private:
  std::array<bool, kEarlySlots> waits_{};
  std::uint32_t arrived_ = 0, done_ = 0;
};

}  // namespace mrc::nccl
