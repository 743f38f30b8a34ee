// A queue of fixed capacity: memory is taken once, at creation, and a full ring refuses.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/check.h"

namespace mrc {

/// First in, first out. Element 0 is the oldest. Not thread-safe.
template <class T>
class Ring {
 public:
  Ring() = default;
  explicit Ring(std::size_t capacity)
      : slots_(allocate(capacity)),
        mask_(static_cast<std::uint32_t>(rounded(capacity) - 1)),
        capacity_(static_cast<std::uint32_t>(capacity)) {
    MRC_CHECK(capacity <= std::uint32_t{1} << 31);
  }

  std::size_t capacity() const { return capacity_; }
  std::size_t size() const { return std::uint32_t(tail_ - head_); }
  bool empty() const { return tail_ == head_; }
  bool full() const { return size() == capacity_; }

  /// False, and nothing changes, when the ring is full: that is back-pressure, not an error.
  [[nodiscard]] bool push(T value) {
    if (full()) return false;
    slots_[tail_++ & mask_] = std::move(value);
    return true;
  }
  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  T& back() { return (*this)[size() - 1]; }
  const T& back() const { return (*this)[size() - 1]; }
  T pop() {
    MRC_CHECK(!empty());
    return std::move(slots_[head_++ & mask_]);
  }
  /// Takes the newest element back.
  T pop_back() {
    MRC_CHECK(!empty());
    return std::move(slots_[--tail_ & mask_]);
  }
  /// The i-th oldest.
  T& operator[](std::size_t i) {
    MRC_CHECK(i < size());
    return slots_[(head_ + i) & mask_];
  }
  const T& operator[](std::size_t i) const {
    MRC_CHECK(i < size());
    return slots_[(head_ + i) & mask_];
  }
  void clear() {
    while (!empty()) (void)pop();
  }

 private:
  // A power of two, so that positions may count up for ever and wrap with a mask.
  static std::size_t rounded(std::size_t n) { return std::bit_ceil(n == 0 ? std::size_t{1} : n); }
  static std::unique_ptr<T[]> allocate(std::size_t n) { return std::make_unique<T[]>(rounded(n)); }

  std::unique_ptr<T[]> slots_;
  std::uint32_t mask_ = 0;
  std::uint32_t capacity_ = 0;
  std::uint32_t head_ = 0;
  std::uint32_t tail_ = 0;
};

}  // namespace mrc
