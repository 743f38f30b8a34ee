// The rule of verbs that an object may not go while the program still holds one of its events.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace mrc::lib {

class Acknowledgements {
 public:
  /// One more event of the object is in the program's hands.
  void note_delivered() {
    const std::lock_guard lock(mutex_);
    ++held_;
  }
  void acknowledge(std::uint32_t count) {
    const std::lock_guard lock(mutex_);
    held_ -= count < held_ ? count : held_;  // acknowledging what was never delivered changes nothing
    if (held_ == 0) settled_.notify_all();
  }
  /// Returns when every delivered event has been acknowledged.
  void wait() {
    std::unique_lock lock(mutex_);
    settled_.wait(lock, [this] { return held_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable settled_;
  std::uint64_t held_ = 0;
};

}  // namespace mrc::lib
