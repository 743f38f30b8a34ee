// What a NIC has still to receive, as far as it was told: every packet carries the length of its message.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mrc::engine {

/// The bytes that all QPs of one NIC expect together.
class Incoming {
 public:
  std::uint64_t bytes() const { return bytes_; }

 private:
  friend class Expected;
  std::uint64_t bytes_ = 0;
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
