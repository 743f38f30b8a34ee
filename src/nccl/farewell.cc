#include "nccl/farewell.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace mrc::nccl {
namespace {

using Clock = std::chrono::steady_clock;

class Farewells {
 public:
  void add(std::unique_ptr<Link> link) {
    const std::lock_guard lock(mutex_);
    const auto until = Clock::now() + std::chrono::milliseconds(link->device().settings().linger_ms);
    links_.push_back({std::move(link), until});
    if (!thread_.joinable()) start();
    changed_.notify_all();
  }

  ~Farewells() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  struct Parting {
    std::unique_ptr<Link> link;
    Clock::time_point until;
  };

  void start() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void run() {
    constexpr auto kLook = std::chrono::milliseconds(5);
    std::unique_lock lock(mutex_);
    while (!ending_ || !links_.empty()) {
      links_.empty() ? changed_.wait(lock) : static_cast<void>(changed_.wait_for(lock, kLook));
      std::vector<Parting> gone = take_gone();
      lock.unlock();
      gone.clear();  // destroying a queue pair waits for the device
      lock.lock();
    }
  }

  std::vector<Parting> take_gone() {
    std::vector<Parting> gone;
    const auto now = Clock::now();
    std::erase_if(links_, [&](Parting& p) {
      if (now < p.until && !p.link->peer_has_gone()) return false;
      gone.push_back(std::move(p));
      return true;
    });
    return gone;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Parting> links_;
  std::thread thread_;
  bool ending_ = false;
};

}  // namespace

void part_with(std::unique_ptr<Link> link) {
  static Farewells farewells;
  link->say_goodbye();
  farewells.add(std::move(link));
}

}  // namespace mrc::nccl
