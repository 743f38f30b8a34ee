// A process's standing connection to mrcd: requests from any thread, a thread of its own that listens, and a
// new connection whenever mrcd comes back.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/time.h"
#include "node/message_socket.h"

namespace mrc::node {

struct LinkSettings {
  Duration call_timeout = 2s;   // a request that stays unanswered fails with EAGAIN
  Duration first_retry = 10ms;  // mrcd is gone: try again after this, doubling
  Duration longest_retry = 1s;
  Duration news_interval = 1s;      // how often mrcd hears of counters that changed
  std::size_t outgoing = 8u << 20;  // bytes that wait for mrcd at most; beyond, the connection is made anew
};

class DaemonLink {
 public:
  /// Called from the link's thread.
  class Owner {
   public:
    virtual Hello introduce() = 0;
    virtual void on_welcome(const Welcome& welcome) = 0;
    /// Under lock(): what mrcd must hear before anything else, so that nothing is told twice or never.
    virtual std::vector<Body> first_words() = 0;
    /// Under lock(): an answer, before who asked for it sees it. `claimed`: somebody still waits for it.
    virtual void on_answer(const Body& body, bool claimed) = 0;
    virtual void on_message(const Body& body) = 0;
    /// Tells of this process, piece by piece.
    virtual void collect(bool with_evs, const std::function<void(Body)>& tell) = 0;
    /// What changed since it was last asked; nothing when nothing did.
    virtual std::optional<Body> news() = 0;

   protected:
    ~Owner() = default;
  };

  DaemonLink(std::string path, Owner& owner, const LinkSettings& settings = {});
  ~DaemonLink() { stop(); }
  DaemonLink(const DaemonLink&) = delete;
  DaemonLink& operator=(const DaemonLink&) = delete;

  /// Connects now, waiting for the welcome, and starts the thread. An error: nobody is there, nothing
  /// started.
  Status start();
  void stop();

  /// Guards the owner's own state too: what it changes and what it posts belong together.
  std::unique_lock<std::mutex> lock() const { return std::unique_lock(mutex_); }
  enum class IfLost : std::uint8_t { fail, ask_again };
  /// Waits for the answer. EAGAIN: mrcd is away, or went in the middle of it.
  Result<Body> call(const Body& body, IfLost if_lost = IfLost::ask_again, port::Fd beside = {});
  /// Sent when the link gets to it; forgotten when mrcd is away: first_words tell it all again. Never waits.
  void post(const Body& body) {
    const auto locked = lock();
    post_locked(body);
  }
  void post_locked(const Body& body);  // REQUIRES: lock() is held
  bool connected() const { return connected_.load(std::memory_order_relaxed); }

  // --- around fork: the child has no thread and no connection ---
  void before_fork() { mutex_.lock(); }
  void after_fork_in_parent() { mutex_.unlock(); }
  void after_fork_in_child();

 private:
  struct Waiting {
    std::optional<Body> answer;
    bool lost = false;
  };

  Result<Body> call_once(std::unique_lock<std::mutex>& locked, const Body& body, port::Fd beside, bool& lost,
                         std::chrono::steady_clock::time_point end);
  Result<Welcome> meet(MessageSocket& socket);
  void adopt(MessageSocket socket, const Welcome& welcome);
  void run();
  void serve();
  void lose();
  bool move();
  void handle(Message message);
  void answer_collect(std::uint32_t id, bool with_evs);
  void kick();
  void wait(int fd, bool writable, Duration most);
  bool stopping() const { return stop_.load(std::memory_order_relaxed); }

  std::string path_;
  Owner& owner_;
  LinkSettings settings_;
  port::Fd kick_;
  std::thread thread_;
  std::atomic<bool> stop_{false}, connected_{false}, dead_{false};

  mutable std::mutex mutex_;  // what follows
  std::condition_variable answered_;
  MessageSocket socket_;  // receive() and next(): the link's thread alone
  std::uint32_t last_id_ = 0;
  std::map<std::uint32_t, Waiting*> waiting_;
};

}  // namespace mrc::node
