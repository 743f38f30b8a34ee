// The frames that were shown, as text, so that whoever comes later can go back in time. Bounded: the oldest
// go.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

namespace mrc::web {

class History {
 public:
  explicit History(std::size_t most_bytes = 96u << 20, std::size_t most_frames = 20'000)
      : most_bytes_(most_bytes), most_frames_(most_frames) {}

  void add(std::string frame);
  std::uint64_t first() const;
  std::uint64_t end() const;  // one past the last
  /// Empty when it is gone or not there yet.
  std::string at(std::uint64_t number) const;
  /// A JSON array of frames from `from` on: at most `count`, and some megabytes.
  std::string page(std::uint64_t from, std::uint64_t count) const;

 private:
  static constexpr std::size_t kPageBytes = 4u << 20;

  mutable std::mutex mutex_;
  const std::size_t most_bytes_, most_frames_;
  std::deque<std::string> frames_;
  std::size_t bytes_ = 0;
  std::uint64_t first_ = 0;
};

}  // namespace mrc::web
