// How many messages wait at a UDP socket, without a system call: a program in the kernel counts what goes to
// its queue (see doorway.h). Who spins looks there, and goes to the kernel only when there is something.
#pragma once

#include <cstdint>
#include <utility>

#include "port/doorway.h"

namespace mrc::port {

class Doorbell {
 public:
  explicit Doorbell(SharedDoorway memory) : memory_(std::move(memory)), taken_(rings()) {}

  /// Messages that rang and were not taken, as far as we know: ask the kernel when it is not 0. It rings a
  /// moment before a message can be read, and also for one that finds no room; so now and then it says 1 when
  /// there is none.
  std::uint32_t waiting() {
    const std::uint64_t ahead = rings() - taken_;
    if (ahead != 0) return ahead < kMost ? static_cast<std::uint32_t>(ahead) : kMost;
    if (++silences_ % kTrust != 0) return 0;
    return 1;
  }
  /// How many were ever taken, modulo 2^32.
  std::uint32_t taken() const { return static_cast<std::uint32_t>(taken_); }
  void took(std::uint32_t messages) {
    taken_ += messages;
    in_vain_ = 0;
    if (static_cast<std::int64_t>(rings() - taken_) < 0) taken_ = rings();
  }
  /// The kernel had nothing. After some patience what rang is taken for lost.
  void took_nothing() {
    if (rings() == taken_ || ++in_vain_ < kPatience) return;
    in_vain_ = 0;
    taken_ = rings();
  }

 private:
  static constexpr std::uint32_t kMost = 1024;
  static constexpr std::uint32_t kTrust = 64;     // silent answers in a row that are believed
  static constexpr std::uint32_t kPatience = 64;  // looks in vain until a ring is forgotten

  std::uint64_t rings() const { return memory_->rings.load(std::memory_order_acquire); }

  SharedDoorway memory_;
  std::uint64_t taken_;
  std::uint32_t silences_ = 0;
  std::uint32_t in_vain_ = 0;
};

}  // namespace mrc::port
