#include "web/history.h"

#include <algorithm>

namespace mrc::web {

void History::add(std::string frame) {
  const std::lock_guard lock(mutex_);
  bytes_ += frame.size();
  frames_.push_back(std::move(frame));
  while (frames_.size() > 1 && (bytes_ > most_bytes_ || frames_.size() > most_frames_)) {
    bytes_ -= frames_.front().size();
    frames_.pop_front();
    ++first_;
  }
}

std::uint64_t History::first() const {
  const std::lock_guard lock(mutex_);
  return first_;
}

std::uint64_t History::end() const {
  const std::lock_guard lock(mutex_);
  return first_ + frames_.size();
}

std::string History::at(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  return number >= first_ && number - first_ < frames_.size() ? frames_[number - first_] : std::string();
}

std::string History::page(std::uint64_t from, std::uint64_t count) const {
  const std::lock_guard lock(mutex_);
  std::string out = "[";
  std::uint64_t at = std::max(from, first_);
  for (; count > 0 && at - first_ < frames_.size() && out.size() < kPageBytes; --count, ++at) {
    if (out.size() > 1) out += ',';
    out += frames_[at - first_];
  }
  return out + "]";
}

}  // namespace mrc::web
