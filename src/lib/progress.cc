#include "lib/progress.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "base/check.h"

namespace mrc::lib {
namespace {

std::int64_t ns(Time t) { return t.time_since_epoch().count(); }

timespec to_timespec(Duration d) {
  return {static_cast<time_t>(d.count() / 1'000'000'000), static_cast<long>(d.count() % 1'000'000'000)};
}

/// A sleeping timer may be that much late without anybody minding.
constexpr Duration kSlack = 1ms;
constexpr Duration kLongest = std::chrono::hours(1);

}  // namespace

Duration next_look(Duration polled_for, Duration aside) {
  constexpr int kPart = 4, kMost = 8;
  return std::clamp(polled_for / kPart, aside, kMost * aside);
}

Time steady_now() {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return Time(Duration(std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec));
}

Status Progress::start() {
  if (running()) return Done{};
  kick_fd_ = port::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!kick_fd_) return port::errno_error("open an eventfd");
  stop_ = false;
  // Signals are the application's business: none is delivered to this thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int refused = 0;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {  // our callers are C's
    refused = error.code().value();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (refused != 0) return port::errno_error("start a thread (see ulimit -u)", refused);
  pthread_setname_np(thread_.native_handle(), "mrc-progress");
  return Done{};
}

void Progress::stop() {
  if (!running()) return;
  stop_ = true;
  kick();
  thread_.join();
}

void Progress::forget_thread() {
  if (!running()) return;
  static auto* const gone = new std::vector<std::thread>;  // never joined, never destroyed: it is not there
  gone->push_back(std::move(thread_));
  kick_fd_ = port::Fd();
}

bool Progress::polled_lately(Time now) const {
  return ns(now) - last_poll_.load(std::memory_order_relaxed) < settings_.aside.count();
}

void Progress::note_deadline(Time now, Time deadline) {
  if (deadline == kNever || sleep_.load(std::memory_order_relaxed) != Sleep::deep) return;
  if (sleeps_until_.load(std::memory_order_relaxed) > ns(std::max(now, deadline)) + kSlack.count()) kick();
}

void Progress::wake_from_aside() {
  if (sleep_.load(std::memory_order_relaxed) == Sleep::aside) kick();
}

void Progress::kick() {
  const port::NoCancel whole;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(kick_fd_.get(), &one, sizeof one);
}

bool Progress::leave_it_to_the_application(Time now) {
  return waiters_.load(std::memory_order_relaxed) == 0 && polled_lately(now);
}

void Progress::run() {
  Time active = steady_now(), aside_since = kNever;
  work_.attend();
  while (!stop_.load(std::memory_order_relaxed)) {
    const Time now = steady_now();
    if (leave_it_to_the_application(now)) {
      aside_since = std::min(aside_since, now);
      sleep_aside(next_look(now - aside_since, settings_.aside));
      continue;
    }
    aside_since = kNever;
    if (work_.turn(now)) {
      active = now;
    } else if (now - active >= settings_.spin) {
      sleep_deep(work_.next_timeout());
      active = steady_now();
    }
  }
}

void Progress::sleep_aside(Duration most) {
  sleep_.store(Sleep::aside, std::memory_order_relaxed);
  readable_.clear();
  writable_.clear();
  wait(most);
  sleep_.store(Sleep::awake, std::memory_order_relaxed);
}

void Progress::sleep_deep(Time deadline) {
  sleeps_until_.store(deadline == kNever ? INT64_MAX / 2 : ns(deadline), std::memory_order_relaxed);
  sleep_.store(Sleep::deep, std::memory_order_seq_cst);
  // A deadline that was set before anybody could see us asleep.
  deadline = std::min(deadline, work_.next_timeout());
  readable_.clear();
  writable_.clear();
  const bool quiet = work_.descriptors(readable_, writable_);
  const Time now = steady_now();
  if (quiet && deadline > now)
    wait(deadline == kNever ? kLongest : std::min<Duration>(deadline - now, kLongest));
  sleep_.store(Sleep::awake, std::memory_order_relaxed);
  work_.attend();
}

void Progress::wait(Duration most) {
  constexpr std::size_t kMost = 1 + 2 * 32;
  pollfd fds[kMost];
  std::size_t n = 0;
  fds[n++] = {kick_fd_.get(), POLLIN, 0};
  for (const int fd : readable_) {
    if (n < kMost) fds[n++] = {fd, POLLIN, 0};
  }
  for (const int fd : writable_) {
    if (n < kMost) fds[n++] = {fd, POLLOUT, 0};
  }
  const timespec limit = to_timespec(most);
  if (::ppoll(fds, n, &limit, nullptr) <= 0 || fds[0].revents == 0) return;
  std::uint64_t count;
  [[maybe_unused]] const auto taken = ::read(kick_fd_.get(), &count, sizeof count);
}

}  // namespace mrc::lib
