// Two controllers that decide nothing: a fixed window, and none at all. They prove that the interface is one,
// and are what to compare an algorithm with.
#pragma once

#include "engine/congestion.h"

namespace mrc::engine {

/// Counts the flight and nothing else: congestion control is off.
class NoCongestionControl : public Congestion {
 public:
  void on_send(Time, std::uint32_t bytes) override { in_flight_ += bytes; }
  void on_sack(Time, const Feedback& f) override { leave(static_cast<std::int64_t>(f.newly)); }
  void on_trim(Time, std::uint32_t bytes, bool) override { leave(bytes); }
  void on_loss(Time, std::uint32_t bytes) override { leave(bytes); }
  void on_settled(Time, std::int64_t bytes) override { leave(bytes); }

  bool may_send(std::uint32_t) const override { return true; }
  std::uint64_t window() const override { return kMost; }
  std::int64_t in_flight() const override { return in_flight_; }

 private:
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  void leave(std::int64_t bytes) { in_flight_ -= bytes; }
  std::int64_t in_flight_ = 0;
};

/// A window that never moves.
class ConstantWindow final : public NoCongestionControl {
 public:
  explicit ConstantWindow(std::uint64_t window) : window_(window) {}
  /// An empty flight may always send, so that a window below one packet doesn't stop the QP for ever.
  bool may_send(std::uint32_t bytes) const override {
    return in_flight() <= 0 || in_flight() + bytes <= static_cast<std::int64_t>(window_);
  }
  std::uint64_t window() const override { return window_; }
  std::uint64_t max_window() const override { return window_; }

 private:
  std::uint64_t window_;
};

}  // namespace mrc::engine
