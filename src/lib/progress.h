// The thread that keeps a device going when the application does something else.
//
// While the application polls, it sleeps and only looks now and then whether that is still so; when nothing
// is under way it sleeps until a port, a timer or a kick wakes it.
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "port/fd.h"

namespace mrc::lib {

/// The engine's clock, read at the edge.
Time steady_now();

/// When to look again whether an application still polls that has polled for so long. A look takes it from
/// its core for 10 to 20 us, and who has polled for long will go on. But if it stops, nothing moves until
/// then: so it is a part of that time, and `aside` some times over at most.
Duration next_look(Duration polled_for, Duration aside);

class Progress {
 public:
  struct Work {
    /// One round; true when something moved. Afterwards next_timeout() is what to wait for at most.
    std::function<bool(Time now)> turn;
    std::function<Time()> next_timeout;
    /// Fills the descriptors to sleep on: readable for all, and those that a full port waits for as writable.
    /// False: something has come already. From then on until attend() everything that comes wakes a sleeper.
    std::function<bool(std::vector<int>& readable, std::vector<int>& writable)> descriptors;
    /// We look again and again, or see to it that somebody does.
    std::function<void()> attend;
  };
  struct Settings {
    Duration spin;
    Duration aside;
  };

  Progress(Work work, Settings settings) : work_(std::move(work)), settings_(settings) {}
  ~Progress() { stop(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A process has only so many descriptors, and threads.
  Status start();
  void stop();
  bool running() const { return thread_.joinable(); }
  /// After fork, in the child: the thread isn't there.
  void forget_thread();

  // Called by application threads.
  void note_poll(Time now) { last_poll_.store(now.time_since_epoch().count(), std::memory_order_relaxed); }
  bool polled_lately(Time now) const;
  /// Somebody wants to be woken by a completion channel: polling no longer means that the application drives.
  void add_waiter() { waiters_.fetch_add(1, std::memory_order_relaxed), wake_from_aside(); }
  void remove_waiter() { waiters_.fetch_sub(1, std::memory_order_relaxed); }
  /// There may be a deadline before the one that the thread sleeps for.
  void note_deadline(Time now, Time deadline);

 private:
  enum class Sleep : int { awake, aside, deep };
  void run();
  bool leave_it_to_the_application(Time now);
  void sleep_aside(Duration most);
  void sleep_deep(Time deadline);
  void wake_from_aside();
  void kick();
  void wait(Duration most);

  Work work_;
  Settings settings_;
  port::Fd kick_fd_;
  std::thread thread_;
  std::atomic<bool> stop_{false};
  std::atomic<std::int64_t> last_poll_{INT64_MIN / 2};
  std::atomic<int> waiters_{0};
  std::atomic<Sleep> sleep_{Sleep::awake};
  std::atomic<std::int64_t> sleeps_until_{0};
  std::vector<int> readable_, writable_;
};

}  // namespace mrc::lib
