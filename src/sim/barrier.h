// Where the threads of one simulation meet, twice per window. The last to arrive does the common work alone.
#pragma once

#include <atomic>

namespace mrc::sim {

/// Spins briefly, because windows are short, and then sleeps, because the machine may have fewer cores than
/// threads.
class Barrier {
 public:
  explicit Barrier(unsigned threads) : threads_(threads), missing_(threads) {}

  template <class Last>
  void arrive(Last&& last) {
    const unsigned round = round_.load(std::memory_order_relaxed);
    if (missing_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      last();
      missing_.store(threads_, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      round_.notify_all();
      return;
    }
    for (int spins = 0; spins < kSpins; ++spins) {
      if (round_.load(std::memory_order_acquire) != round) return;
      __builtin_ia32_pause();
    }
    while (round_.load(std::memory_order_acquire) == round) round_.wait(round, std::memory_order_acquire);
  }
  void arrive() {
    arrive([] {});
  }

 private:
  static constexpr int kSpins = 4000;

  const unsigned threads_;
  std::atomic<unsigned> missing_;
  std::atomic<unsigned> round_{0};
};

}  // namespace mrc::sim
