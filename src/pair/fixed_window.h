// A congestion window that never moves: it keeps the figures of recovery apart from those of congestion
// control.
#pragma once

#include "engine/congestion.h"

namespace mrc::pair {

class FixedWindow final : public engine::Congestion {
 public:
  explicit FixedWindow(std::uint64_t bytes) : window_(bytes) {}
  void on_send(Time, std::uint32_t bytes) override { flight_ += bytes; }
  void on_sack(Time, const Feedback& f) override { flight_ -= static_cast<std::int64_t>(f.newly); }
  void on_trim(Time, std::uint32_t bytes, bool) override { flight_ -= bytes; }
  void on_loss(Time, std::uint32_t bytes) override { flight_ -= bytes; }
  void on_settled(Time, std::int64_t bytes) override { flight_ -= bytes; }
  bool may_send(std::uint32_t bytes) const override {
    return flight_ + bytes <= static_cast<std::int64_t>(window_);
  }
  std::uint64_t window() const override { return window_; }
  std::int64_t in_flight() const override { return flight_; }

 private:
  std::uint64_t window_;
  std::int64_t flight_ = 0;
};

}  // namespace mrc::pair
