// From one thread to one other, in order, without locks.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

namespace mrc::nccl {

/// One thread puts, one takes.
template <class T>
class Handoff {
 public:
  explicit Handoff(std::uint32_t least) : slots_(std::bit_ceil(least)) {}

  bool put(const T& value) {
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) == slots_.size()) return false;
    slots_[tail & (slots_.size() - 1)] = value;
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }
  bool take(T& out) {
    const std::uint32_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_acquire)) return false;
    out = slots_[head & (slots_.size() - 1)];
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

 private:
  std::vector<T> slots_;
  alignas(64) std::atomic<std::uint32_t> head_{0};
  alignas(64) std::atomic<std::uint32_t> tail_{0};
};

}  // namespace mrc::nccl
