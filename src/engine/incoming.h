// What a NIC has still to receive, as far as it was told: every packet carries the length of its message.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace mrc::engine {

/// What all QPs of one NIC receive together: the bytes that they expect, and whether their answers get
/// through.
class Incoming {
 public:
  explicit Incoming(Duration question_gap = Duration::zero()) : question_gap_(question_gap) {}

  std::uint64_t bytes() const { return bytes_; }
  /// Takes the NIC's next question about the way back, if it is time for one: a thousand QPs that receive a
  /// little each would spend a twentieth of a host's time on asking about the same few paths.
  bool take_question(Time now) {
    if (now < next_question_) return false;
    next_question_ = now + question_gap_;
    return true;
  }

 private:
  friend class Expected;
  std::uint64_t bytes_ = 0;
  Duration question_gap_;
  Time next_question_ = Time::min();
};

/// One QP's part of it. A message counts from the first of its packets that shows up, trimmed or not. One
/// that shows up after a later message was not announced; then less is expected than comes, never more.
class Expected {
 public:
  /// `all` outlives it; null: nobody asks.
  explicit Expected(Incoming* all) : all_(all) {}
  ~Expected() { forget(); }
  Expected(const Expected&) = delete;
  Expected& operator=(const Expected&) = delete;

  void announce(std::uint16_t msn, std::uint32_t length) {
    if (all_ == nullptr || static_cast<std::int16_t>(msn - newest_) <= 0) return;
    newest_ = msn;
    bytes_ += length;
    all_->bytes_ += length;
  }
  void arrive(std::uint64_t payload) {
    const std::uint64_t known = std::min(payload, bytes_);
    if (known == 0) return;
    bytes_ -= known;
    all_->bytes_ -= known;
  }
  Incoming* all() const { return all_; }
  /// Nothing more comes: the QP failed, or ends.
  void forget() { arrive(bytes_); }

  /// Something is expected here, and everything that the NIC expects fits into `room`.
  bool all_fit(std::uint64_t room) const { return bytes_ > 0 && all_->bytes_ <= room; }

 private:
  Incoming* all_;
  std::uint64_t bytes_ = 0;
  std::uint16_t newest_ = 0xFFFF;  // MSNs count from 0
};

}  // namespace mrc::engine
