#include "nccl/farewell.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "nccl/exit.h"
#include "nccl/thread.h"

namespace mrc::nccl {
namespace {

using Clock = std::chrono::steady_clock;

class Farewells {
 public:
  void add(std::unique_ptr<Link> link) {
    const std::lock_guard lock(mutex_);
    const auto until = Clock::now() + std::chrono::milliseconds(link->device().settings().timeout_ms);
    links_.push_back({std::move(link), until});
    say_goodbye(links_.back());
    if (!thread_.joinable()) start();
    changed_.notify_all();
  }

  /// Waits until the last link has gone.
  void end() {
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
    Clock::time_point until;  // for the ACKs that are missing, then for the peer
    bool said = false;
  };

  /// Where there is no thread now, the next link's brings one for all.
  void start() {
    if (auto started = start_thread("openmrc-parting", [this] { run(); }); started)
      thread_ = *std::move(started);
  }

  /// Sends that were copied are done for NCCL before their ACK comes: their repair may take as long as that
  /// of others. A peer that heard the goodbye would not wait for it; one that acknowledges nothing hears it
  /// when the link goes.
  static void say_goodbye(Parting& p) {
    if (p.said) return;
    if (p.link->has_unanswered()) p.link->help();
    if (p.link->has_unanswered()) return;
    p.link->say_goodbye();
    p.said = true;
    p.until = Clock::now() + std::chrono::milliseconds(p.link->device().settings().linger_ms);
  }

  void run() {
    constexpr auto kLook = std::chrono::milliseconds(2);
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
    for (Parting& p : links_) say_goodbye(p);
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
  static Farewells* const farewells = new Farewells;
  static std::once_flag once;
  std::call_once(once, [] { at_exit([] { farewells->end(); }); });
  farewells->add(std::move(link));
}

}  // namespace mrc::nccl
