// From one thread to one other, in order, without locks.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

namespace mrc::nccl {

/// One thread puts, one takes.
template <class T>
class Handoff {
 public:
  explicit Handoff(std::uint32_t least)
      : mask_(std::bit_ceil(least) - 1), slots_(std::make_unique_for_overwrite<Slot[]>(mask_ + 1)) {}

  bool put(const T& value) {
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) > mask_) return false;
    std::memcpy(slots_[tail & mask_].bytes, &value, sizeof value);
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }
  bool take(T& out) {
    const std::uint32_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_acquire)) return false;
    std::memcpy(&out, slots_[head & mask_].bytes, sizeof out);
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

 private:
  static_assert(std::is_trivially_copyable_v<T>);
  // Not written to before it is used: many connections use little of it, and pages cost nothing until then.
  struct Slot {
    alignas(T) std::byte bytes[sizeof(T)];
  };
  const std::uint32_t mask_;
  const std::unique_ptr<Slot[]> slots_;
  alignas(64) std::atomic<std::uint32_t> head_{0};
  alignas(64) std::atomic<std::uint32_t> tail_{0};
};

}  // namespace mrc::nccl
