// Events that a program waits for on a file descriptor, as completion channels and async events are in verbs.
#pragma once

#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <mutex>

namespace mrc::lib {

/// A queue beside an eventfd that counts its entries: the descriptor polls readable while an event waits, and
/// a program may set O_NONBLOCK on it. Events are few (one per armed CQ), so the queue needs no limit of its
/// own.
template <class Event>
class EventQueue {
 public:
  EventQueue() : fd_(eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE)), open_error_(fd_ < 0 ? errno : 0) {}
  ~EventQueue() {
    if (fd_ >= 0) close(fd_);
  }
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  int open_error() const { return open_error_; }  // errno of the descriptor, or 0
  int fd() const { return fd_; }

  void push(const Event& event) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(event);
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(fd_, &one, sizeof one);  // fails only at 2^64 - 2 events
  }

  /// The oldest event. Waits for one unless the descriptor says otherwise: 0, EAGAIN, EINTR.
  /// `note(event)` runs before forget() can be certain that the event is gone: the place to count it as
  /// delivered.
  template <class Note>
  int take(Event& out, Note note) {
    for (;;) {
      std::uint64_t one;
      if (read(fd_, &one, sizeof one) < 0) return errno;
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) continue;  // forgotten between the read and the lock
      out = waiting_.front();
      waiting_.pop_front();
      note(out);
      return 0;
    }
  }

  /// Takes back the events that nobody will want: their object is going.
  template <class Which>
  void forget(Which which) {
    const std::lock_guard lock(mutex_);
    const auto kept = std::remove_if(waiting_.begin(), waiting_.end(), which);
    for (auto i = kept; i != waiting_.end(); ++i) take_token();
    waiting_.erase(kept, waiting_.end());
  }

 private:
  void take_token() {
    std::uint64_t one;
    const iovec piece{&one, sizeof one};
    // A thread inside take() may have this token already; then there is nothing to read, and it finds the
    // queue empty.
    [[maybe_unused]] const auto got = preadv2(fd_, &piece, 1, -1, RWF_NOWAIT);
  }

  int fd_;
  int open_error_;
  std::mutex mutex_;
  std::deque<Event> waiting_;
};

}  // namespace mrc::lib
