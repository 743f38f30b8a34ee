// Who posts and polls, for all links of one device.
//
// NCCL has one thread for everything that a communicator does. Small messages it drives itself, whenever it
// asks for them: handing one to another thread and back takes longer than the network does. When messages
// are long, or on many devices at once, moving them would keep NCCL's thread from everything else; so a
// thread of the device's own wakes up and takes over, and goes to sleep again when there was no reason for a
// while. When nobody asks, libmrc's own thread keeps the connections alive.
#pragma once

#include <mrc.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.h"
#include "nccl/ready_list.h"

namespace mrc::nccl {

class Link;

class Driver {
 public:
  /// The thread's business begins with messages of `long_bytes`; 0: there is none.
  Driver(mrc_context* context, std::uint64_t long_bytes);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// A completion queue with room for so many entries more, and a number for the link: the upper bits of its
  /// wr_ids.
  struct Place {
    std::uint64_t number = 0;
    std::size_t queue = 0;
    mrc_cq* cq = nullptr;
  };
  Result<Place> enter(Link& link, std::uint32_t entries);
  /// Once the link's queue pairs are gone. When this returns, the driver does not know it any more.
  void leave(const Place& place, std::uint32_t entries);
  /// The driver lets go of the link, whose queue pairs may be destroyed then.
  void forget(const Place& place);

  /// A message of that many bytes has come: if it is long, the thread is wanted. Whoever has the turn wakes
  /// it.
  void note(std::uint64_t bytes) {
    if (long_bytes_ == 0 || bytes < long_bytes_) return;
    if (!wanted_.load(std::memory_order_relaxed)) wanted_.store(true, std::memory_order_seq_cst);
  }
  /// A command waits in the link: a turn that ends after this posts it, whether anybody asks again or not.
  void note_command(Link& link);
  /// The caller has something for the device, or waits for something in its queue: it takes a turn, or leaves
  /// that to the thread, or to somebody else who is at it.
  void help(const Place& place);
  /// The caller takes turns, whoever else is at it, until nothing is left of what had come by now.
  void insist(const Place& place);

  /// Before the process's libraries go. Nothing moves afterwards.
  void stop();

  static constexpr int kLinkShift = 40;

 private:
  struct Queue {
    mrc_cq* cq;
    std::uint32_t room;
    bool failed = false;
  };
  struct Member {
    Link* link;
    std::size_t queue;
  };
  void run();
  /// Posts all commands and polls one queue. An empty poll drives the whole device: polling all of them would
  /// do that so often for one message.
  bool turn(std::size_t queue);
  bool post_commands();
  void hand_back_refused();
  bool poll(std::size_t queue);
  void give_up(std::size_t queue, int error);
  void sleep(std::unique_lock<std::mutex>& lock);
  void wake();
  bool caller_is_torn() const;

  static std::atomic<std::size_t> drivers_;  // of this process

  mrc_context* context_;
  const std::uint64_t long_bytes_;
  std::mutex mutex_;  // of everything below; the thread holds it during a turn
  std::condition_variable woken_;
  std::vector<Queue> queues_;
  std::map<std::uint64_t, Member> links_;
  std::uint64_t last_number_ = 0;
  std::atomic<bool> wanted_{false}, asleep_{false}, stop_{false};
  ReadyList commanded_;           // links with commands that no turn has taken up; most turns find none
  std::vector<Link*> refused_;    // of this turn: some of their commands could not be posted
  std::atomic<int> visitors_{0};  // who want the mutex: the thread lets them in
  std::thread thread_;
};

}  // namespace mrc::nccl
