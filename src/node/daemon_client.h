// A conversation with mrcd for programs that ask and wait: tools, tests.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "base/time.h"
#include "node/message_socket.h"

namespace mrc::node {

/// Time mends it: mrcd may be stopped and started again at any time, and so may its processes, whose device
/// is watched.
bool may_return(const Error& lost);

class DaemonClient {
 public:
  /// `device` empty: the node as a whole. ENODEV when no process and no setting of mrcd has that device.
  static Result<DaemonClient> open(const std::string& path, const std::string& device = {});

  /// The same over a connection that somebody else has made: connect_daemon, in another namespace.
  static Result<DaemonClient> adopt(port::Fd connected, const std::string& device = {});

  const Welcome& welcome() const { return welcome_; }
  /// The answer: an Answer with an error comes back as that error.
  Result<Body> call(const Body& body, Duration timeout = 5s);
  template <class Wanted>
  Result<Wanted> ask(const Body& body) {
    auto answer = call(body);
    if (!answer) return answer.error();
    if (auto* wanted = std::get_if<Wanted>(&*answer)) return std::move(*wanted);
    return unexpected();
  }
  /// Makes this connection a controller's. EPERM without CAP_NET_ADMIN.
  Status prove();
  Result<Snapshot> snapshot(bool with_evs);
  Status subscribe(std::uint32_t kinds);
  /// The next event; nothing when none came in time. An error when mrcd is gone.
  Result<std::optional<NodeEvent>> next_event(Duration timeout);
  int fd() const { return socket_.fd(); }

 private:
  static Error unexpected();
  Status hello(const std::string& device);
  /// One message, within the time. ETIMEDOUT.
  Result<Message> next(Duration timeout);
  Result<Body> answer_to(std::uint32_t id, Duration timeout);
  std::uint32_t send(const Body& body, port::Fd beside = {});

  MessageSocket socket_;
  Welcome welcome_;
  std::uint32_t last_id_ = 0;
  std::deque<NodeEvent> events_;
};

}  // namespace mrc::node
