#include "nccl/driver.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "nccl/link.h"
#include "nccl/thread.h"

namespace mrc::nccl {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint32_t kEntries = 1 << 16;            // of a completion queue
constexpr std::size_t kBatch = 32;                     // of them that a turn takes
constexpr auto kAwake = std::chrono::milliseconds(2);  // after the last reason to be
constexpr auto kAtOnce = std::chrono::microseconds(50);
constexpr int kTurnsPerLook = 32;     // at the clock
constexpr std::size_t kBearable = 2;  // devices that NCCL's thread can drive at once

/// Takes the mutex from a thread that spins with it.
class Visit {
 public:
  Visit(std::mutex& mutex, std::atomic<int>& visitors) : visitors_(visitors), lock_(mutex, std::defer_lock) {
    visitors_.fetch_add(1, std::memory_order_relaxed);
    lock_.lock();
  }
  ~Visit() { visitors_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  std::atomic<int>& visitors_;
  std::unique_lock<std::mutex> lock_;
};

}  // namespace

std::atomic<std::size_t> Driver::drivers_{0};

Driver::Driver(mrc_context* context, std::uint64_t long_bytes) : context_(context), long_bytes_(long_bytes) {
  ++drivers_;
}
Driver::~Driver() { --drivers_; }

Result<Driver::Place> Driver::enter(Link& link, std::uint32_t entries) {
  const Visit visit(mutex_, visitors_);
  if (entries > kEntries) return Error{ENOMEM, "a connection of that many queue pairs does not fit"};
  auto queue = std::find_if(queues_.begin(), queues_.end(),
                            [&](const Queue& q) { return q.room >= entries && !q.failed; });
  if (queue == queues_.end()) {
    mrc_cq* cq = ::mrc_create_cq(context_, static_cast<int>(kEntries), nullptr, nullptr, 0);
    if (cq == nullptr) return Error{errno, std::string("no completion queue: ") + std::strerror(errno)};
    queue = queues_.insert(queues_.end(), {cq, kEntries});
  }
  if (!thread_.joinable()) {  // which needs a queue
    auto started = start_thread("nccl-openmrc", [this] { run(); });
    if (!started) return started.error();
    thread_ = *std::move(started);
  }
  queue->room -= entries;
  const std::uint64_t number = ++last_number_;
  const Place place{number, static_cast<std::size_t>(queue - queues_.begin()), queue->cq};
  links_[number] = {&link, place.queue};
  return place;
}

void Driver::forget(const Place& place) {
  const Visit visit(mutex_, visitors_);
  turn(place.queue);  // so that no list leads to it any more
  links_.erase(place.number);
}

void Driver::leave(const Place& place, std::uint32_t entries) {
  const Visit visit(mutex_, visitors_);
  queues_[place.queue].room += entries;
}

void Driver::run() {
  auto last = Clock::now();
  for (std::uint64_t turns = 0; !stop_.load(std::memory_order_relaxed); ++turns) {
    while (visitors_.load(std::memory_order_relaxed) > 0) std::this_thread::yield();
    std::unique_lock lock(mutex_);
    const bool moved = turn(turns % queues_.size());
    if (!moved && turns % kTurnsPerLook != 0) continue;
    const auto now = Clock::now();
    if (wanted_.exchange(false, std::memory_order_relaxed)) last = now;
    if (now - last > kAwake) {
      sleep(lock);
      last = Clock::now();
    } else if (!moved) {
      lock.unlock();
      std::this_thread::yield();  // somebody else may need this core to make something happen
    }
  }
}

void Driver::stop() {
  stop_ = true;
  wanted_ = true;
  wake();
  if (thread_.joinable()) thread_.join();
}

void Driver::sleep(std::unique_lock<std::mutex>& lock) {
  asleep_.store(true, std::memory_order_seq_cst);
  // Who hands a command over sees us asleep, or we see the command.
  woken_.wait(lock, [this] {
    return wanted_.load(std::memory_order_relaxed) || visitors_.load() > 0 || !commanded_.empty();
  });
  asleep_.store(false, std::memory_order_release);
}

void Driver::help(const Place& place) {
  if (!asleep_.load()) return;
  if (visitors_.load(std::memory_order_relaxed) > 0 && commanded_.empty()) return;
  if (wanted_.load(std::memory_order_relaxed)) return wake();
  bool moved = false;
  do {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock.owns_lock() && asleep_.load(std::memory_order_relaxed)) moved |= turn(place.queue);
    // Whoever else is at it may have begun before our command came, and be gone before anybody asks again.
  } while (!commanded_.empty() && asleep_.load() && !wanted_.load(std::memory_order_relaxed));
  if (moved && caller_is_torn()) note(long_bytes_);
  if (wanted_.load(std::memory_order_relaxed)) wake();
}

void Driver::insist(const Place& place) {
  const Visit visit(mutex_, visitors_);
  // An empty poll has looked at the network too. Others' traffic may never let it come to that.
  for (std::size_t i = 0; i < kEntries / kBatch && turn(place.queue); ++i) continue;
}

/// As many other devices as the caller can bear have moved something in its turns as well, now. Asking while
/// nothing moves is no work, however many devices are asked.
bool Driver::caller_is_torn() const {
  struct Worked {
    const Driver* driver = nullptr;
    Clock::time_point when;
  };
  if (long_bytes_ == 0 || drivers_.load(std::memory_order_relaxed) <= kBearable) return false;
  thread_local std::array<Worked, 8> lately;
  const auto now = Clock::now();
  std::size_t others = 0;
  Worked* place = &lately[0];
  for (Worked& w : lately) {
    if (w.driver == this) place = &w;
    others += w.driver != nullptr && w.driver != this && now - w.when < kAtOnce;
    if (place->driver != this && w.when < place->when) place = &w;
  }
  *place = {this, now};
  return others >= kBearable;
}

void Driver::wake() {
  const std::lock_guard lock(mutex_);
  woken_.notify_one();
}

void Driver::note_command(Link& link) { commanded_.add(link); }

bool Driver::turn(std::size_t queue) {
  const bool posted = post_commands();
  const bool polled = poll(queue);
  hand_back_refused();
  return posted || polled;
}

bool Driver::post_commands() {
  bool posted = false;
  commanded_.take_all([&](ReadyList::Entry& entry) {
    Link& link = static_cast<Link&>(entry);
    posted |= link.post_handed_over();
    if (link.has_refused()) refused_.push_back(&link);
  });
  return posted;
}

void Driver::hand_back_refused() {
  for (Link* link : refused_) {
    poll(link->place().queue);  // what comes from there says why
    link->hand_back_refused();
  }
  refused_.clear();
}

bool Driver::poll(std::size_t queue) {
  std::array<ibv_wc, kBatch> done;
  const int n = ::mrc_poll_cq(queues_[queue].cq, static_cast<int>(done.size()), done.data());
  for (int i = 0; i < n; ++i) {
    ibv_wc& wc = done[static_cast<std::size_t>(i)];
    const std::uint64_t number = (wc.wr_id & ~Link::kReceiveId) >> kLinkShift;
    const auto link = links_.find(number);
    if (link != links_.end()) link->second.link->hand_back(wc);
  }
  if (n < 0) give_up(queue, errno);
  return n > 0;
}

/// Nothing that its links wait for will come any more.
void Driver::give_up(std::size_t queue, int error) {
  if (std::exchange(queues_[queue].failed, true)) return;
  for (const auto& [number, member] : links_) {
    if (member.queue == queue) member.link->note_queue_failed(error);
  }
}

}  // namespace mrc::nccl
