// Bits whose number is fixed at creation: a plain set, and a window that slides along a sequence.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/check.h"

namespace mrc {

/// `size` bits, all clear at first.
class Bitmap {
 public:
  Bitmap() = default;
  explicit Bitmap(std::size_t size)
      : words_(std::make_unique<std::uint64_t[]>((size + 63) / 64)), size_(size) {}

  std::size_t size() const { return size_; }
  bool test(std::size_t i) const { return (words_[checked(i) / 64] >> i % 64 & 1) != 0; }
  void set(std::size_t i) { words_[checked(i) / 64] |= bit(i); }
  void clear(std::size_t i) { words_[checked(i) / 64] &= ~bit(i); }
  void clear_all() {
    for (std::size_t w = 0; w < words(); ++w) words_[w] = 0;
  }
  std::size_t count() const {
    std::size_t n = 0;
    for (std::size_t w = 0; w < words(); ++w) n += static_cast<std::size_t>(std::popcount(words_[w]));
    return n;
  }
  /// The first set (clear) bit at or after `from`; size() when there is none.
  std::size_t find_set(std::size_t from) const { return find(from, 0); }
  std::size_t find_clear(std::size_t from) const { return find(from, ~std::uint64_t{0}); }

 private:
  static constexpr std::uint64_t bit(std::size_t i) { return std::uint64_t{1} << i % 64; }
  std::size_t words() const { return (size_ + 63) / 64; }
  std::size_t checked(std::size_t i) const {
    MRC_CHECK(i < size_);
    return i;
  }
  std::size_t find(std::size_t from, std::uint64_t flip) const {
    while (from < size_) {
      const std::uint64_t rest = (words_[from / 64] ^ flip) >> from % 64;
      if (rest != 0) {
        const std::size_t at = from + static_cast<std::size_t>(std::countr_zero(rest));
        return at < size_ ? at : size_;
      }
      from = (from / 64 + 1) * 64;
    }
    return size_;
  }

  std::unique_ptr<std::uint64_t[]> words_;
  std::size_t size_ = 0;
};

/// `span` bits that follow a moving base: bit i belongs to the number base + i. Sliding forgets the oldest
/// bits and brings in clear ones. This is what a receive window is made of, and what a SACK bitmap is read
/// from.
class WindowBitmap {
 public:
  WindowBitmap() = default;
  /// `span` is rounded up to a multiple of 64.
  explicit WindowBitmap(std::size_t span)
      : words_(std::make_unique<std::uint64_t[]>((span + 63) / 64)), count_((span + 63) / 64) {}

  std::size_t span() const { return count_ * 64; }
  bool test(std::size_t i) const { return (word_of(i) >> position(i) % 64 & 1) != 0; }
  /// True when the bit was clear: the arrival is a new one.
  bool set(std::size_t i) {
    MRC_CHECK(i < span());
    std::uint64_t& word = words_[position(i) / 64];
    const std::uint64_t mask = std::uint64_t{1} << position(i) % 64;
    const bool fresh = (word & mask) == 0;
    word |= mask;
    return fresh;
  }
  /// 64 bits from i on, LSB first; bits beyond the span read as clear.
  std::uint64_t window64(std::size_t i) const {
    if (i >= span()) return 0;
    const std::size_t shift = position(i) % 64;
    std::uint64_t bits = word_of(i) >> shift;
    if (shift != 0 && i + 64 - shift < span()) bits |= word_of(i + 64 - shift) << (64 - shift);
    return bits & low_bits(span() - i);  // the last word of the circle may also hold the first bits
  }
  /// How many bits are set without a gap, from bit 0 on.
  std::size_t leading_ones() const {
    for (std::size_t i = 0; i < span(); i += 64) {
      const std::uint64_t bits = window64(i);
      if (bits != ~std::uint64_t{0}) return i + static_cast<std::size_t>(std::countr_one(bits));
    }
    return span();
  }
  std::size_t count() const {
    std::size_t n = 0;
    for (std::size_t w = 0; w < count_; ++w) n += static_cast<std::size_t>(std::popcount(words_[w]));
    return n;
  }
  /// One past the highest set bit; 0 when none is set.
  std::size_t end() const {
    for (std::size_t i = span(); i > 0; i -= 64) {
      const std::uint64_t bits = window64(i - 64);
      if (bits != 0) return i - static_cast<std::size_t>(std::countl_zero(bits));
    }
    return 0;
  }
  /// Moves the base n forward.
  void slide(std::size_t n) {
    for (std::size_t i = 0; i < n && i < span();) {
      const std::size_t at = position(i);
      std::size_t run = 64 - at % 64;
      if (run > n - i) run = n - i;
      words_[at / 64] &= ~(low_bits(run) << at % 64);
      i += run;
    }
    if (count_ != 0) base_ = (base_ + n) % span();
  }
  void clear_all() {
    for (std::size_t w = 0; w < count_; ++w) words_[w] = 0;
  }

 private:
  static constexpr std::uint64_t low_bits(std::size_t n) {
    return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
  }
  std::size_t position(std::size_t i) const { return base_ + i < span() ? base_ + i : base_ + i - span(); }
  std::uint64_t word_of(std::size_t i) const {
    MRC_CHECK(i < span());
    return words_[position(i) / 64];
  }

  std::unique_ptr<std::uint64_t[]> words_;
  std::size_t count_ = 0;
  std::size_t base_ = 0;  // where bit 0 sits in the circle of words
};

}  // namespace mrc
