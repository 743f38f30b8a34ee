// A small HTTP server: one thread, one epoll, a handler that answers at once, and streams of server-sent
// events.
//
// It is made to be looked at by strangers: every connection has bounded buffers and deadlines, a slow reader
// of a stream loses events instead of filling memory, and when all places are taken the connection that has
// been silent longest goes. turn() is its only loop; fd() lets another event loop hold it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "http/request.h"
#include "http/response.h"
#include "port/fd.h"

namespace mrc::http {

struct ServerSettings {
  Limits limits;
  std::size_t connections = 512;
  std::chrono::milliseconds patience{10'000};  // for a request to arrive, and for a reader to read
  std::chrono::milliseconds idle{60'000};      // between two requests
  std::size_t stream_backlog = 8u << 20;       // bytes that a stream may lag behind
};

using StreamId = std::uint64_t;

class Handler {
 public:
  virtual Response handle(const Request& request) = 0;
  /// A response with `stream` set has begun; it lives until on_close.
  virtual void on_open(StreamId, const Request&) {}
  virtual void on_close(StreamId) {}

 protected:
  ~Handler() = default;
};

class Server {
 public:
  /// `address` is an IPv4 or IPv6 literal; port 0 takes a free one. The handler outlives the server.
  static Result<std::unique_ptr<Server>> listen(const std::string& address, std::uint16_t port,
                                                Handler& handler, const ServerSettings& settings = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const { return port_; }
  /// Readable when turn() has something to do, deadlines apart: call it once a second at least.
  int fd() const { return epoll_.get(); }
  /// Serves what is ready; waits for it no longer than `wait`.
  void turn(std::chrono::milliseconds wait);

  /// False when the reader is too far behind, or gone: the bytes were left out.
  bool send(StreamId stream, std::string_view bytes);
  /// Bytes that a stream's reader has not taken yet.
  std::size_t backlog(StreamId stream) const;
  std::size_t connections() const { return connections_.size(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Connection;

  Server(Handler& handler, const ServerSettings& settings);
  void accept_all();
  void make_room();
  void listen_for(bool newcomers);
  void serve(Connection& c, std::uint32_t events);
  bool read(Connection& c);
  void answer(Connection& c);
  void answer_one(Connection& c, const Request& request);
  void refuse(Connection& c, int status);
  bool flush(Connection& c);
  void watch(Connection& c);
  void close(StreamId id);
  void check_deadlines(Clock::time_point now);

  Handler& handler_;
  ServerSettings settings_;
  port::Fd epoll_, listener_;
  std::uint16_t port_ = 0;
  std::map<StreamId, std::unique_ptr<Connection>> connections_;
  StreamId next_id_ = 1;
  Clock::time_point checked_{};
  bool resting_ = false;  // the listener is not watched until the next check
};

/// 127.0.0.0/8, ::1, localhost, with or without a port: who asks by such a name is on this machine.
bool is_loopback_name(std::string_view host);

}  // namespace mrc::http
