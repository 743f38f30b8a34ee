// Where frames are while they travel: numbered slots, used again as soon as they are free.
//
// The store is shared by all threads and only ever grows; each thread takes and returns slots through its own
// SlotCache, which trades with the store a few hundred at a time. Which slot a frame gets depends on the
// threads, so nothing that decides may look at the number.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <mutex>
#include <type_traits>
#include <vector>

#include "base/check.h"

namespace mrc::sim {

/// Slots begin unwritten: whoever takes one writes it in full.
template <class Slot>
class SlotStore {
  static_assert(std::is_trivially_destructible_v<Slot>);

 public:
  Slot& operator[](std::uint32_t i) { return chunks_[i >> kChunkBits].get()[i & (kChunk - 1)]; }

  /// Slots ever made: the most that were in use at once, rounded up.
  std::size_t capacity() const { return std::size_t{used_chunks_} << kChunkBits; }

  using Magazine = std::vector<std::uint32_t>;
  static constexpr std::size_t kMagazine = 512;

  /// kMagazine free slots.
  Magazine take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) grow();
    Magazine magazine = std::move(free_.back());
    free_.pop_back();
    return magazine;
  }
  void give(Magazine magazine) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(magazine));
  }

 private:
  static constexpr int kChunkBits = 14;
  static constexpr std::uint32_t kChunk = 1u << kChunkBits;
  static constexpr std::uint32_t kMaxChunks = 1u << 16;  // 2^30 slots
  static constexpr std::size_t kHugePage = std::size_t{2} << 20;
  struct Free {
    void operator()(Slot* p) const { std::free(p); }
  };

  // Frames are met in no order of memory: with small pages every hop would miss the TLB.
  void grow() {
    MRC_CHECK(used_chunks_ < kMaxChunks);
    constexpr std::size_t kBytes = sizeof(Slot) << kChunkBits;
    void* memory = std::aligned_alloc(kBytes % kHugePage == 0 ? kHugePage : alignof(Slot), kBytes);
    if (memory == nullptr) throw std::bad_alloc();
    madvise(memory, kBytes, MADV_HUGEPAGE);  // a wish: without it everything works, slower
    chunks_[used_chunks_].reset(static_cast<Slot*>(memory));
    const std::uint32_t first = used_chunks_++ << kChunkBits;
    for (std::uint32_t end = first + kChunk; end > first; end -= kMagazine) {
      Magazine& magazine = free_.emplace_back();
      for (std::uint32_t i = 1; i <= kMagazine; ++i) magazine.push_back(end - i);
    }
  }

  std::unique_ptr<std::unique_ptr<Slot, Free>[]> chunks_ =
      std::make_unique<std::unique_ptr<Slot, Free>[]>(kMaxChunks);
  std::uint32_t used_chunks_ = 0;
  std::mutex mutex_;
  std::vector<Magazine> free_;
};

/// One thread's hand in the store. Last in, first out: the slot used next is the one still in cache.
template <class Slot>
class SlotCache {
 public:
  explicit SlotCache(SlotStore<Slot>& store) : store_(store) {}

  std::uint32_t take() {
    if (free_.empty()) free_ = store_.take();
    const std::uint32_t i = free_.back();
    free_.pop_back();
    return i;
  }
  void give(std::uint32_t i) {
    if (free_.size() >= 2 * SlotStore<Slot>::kMagazine) give_back();
    free_.push_back(i);
  }
  Slot& operator[](std::uint32_t i) { return store_[i]; }

 private:
  void give_back() {
    const auto cut = free_.begin() + SlotStore<Slot>::kMagazine;
    store_.give({free_.begin(), cut});
    free_.erase(free_.begin(), cut);
  }

  SlotStore<Slot>& store_;
  typename SlotStore<Slot>::Magazine free_;
};

}  // namespace mrc::sim
