// The page's server: files, the fabric, frames as they come and as they were, and actions.
//
//   GET  /                 the page
//   GET  /api/fabric       what the fabric is made of, and which frames there are
//   GET  /api/frames       ?from=N&count=M: a JSON array of frames
//   GET  /api/frame        ?n=N: one frame
//   GET  /api/path         ?from=H&to=H&ev=PLANE.UPLINK0.UPLINK1: the hops of a way
//   GET  /api/live         server-sent events: one per frame
//   POST /api/act          a JSON action
//
// On loopback whoever is on this machine may use it; requests that a foreign page sends are told by their
// Host and Origin, and refused. Elsewhere everything needs the token.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>

#include "http/server.h"
#include "view/source.h"
#include "web/history.h"

namespace mrc::web {

struct AppSettings {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  std::string token;                                 // empty: only for loopback
  std::function<void(const std::string&)> on_frame;  // told of each, from the source's thread
};

class App final : private http::Handler {
 public:
  /// The source outlives the app. Starts the source.
  static Result<std::unique_ptr<App>> start(view::Source& source, const AppSettings& settings);
  ~App();

  std::uint16_t port() const { return server_->port(); }
  /// With the token, if there is one.
  std::string url() const;
  /// Serves until `stop` is set; look at it at least every 100 ms.
  void run(const std::atomic<bool>& stop);
  const History& history() const { return history_; }

 private:
  App(view::Source& source, const AppSettings& settings) : source_(source), settings_(settings) {}

  http::Response handle(const http::Request& request) override;
  void on_open(http::StreamId stream, const http::Request& request) override;
  void on_close(http::StreamId stream) override { streams_.erase(stream); }
  int refusal(const http::Request& request) const;
  http::Response answer_get(const http::Request& request);
  http::Response asset(const http::Request& request) const;
  http::Response fabric() const;
  http::Response path(const http::Request& request) const;
  http::Response act(const http::Request& request);
  void take_frame(std::string frame);
  void spread();

  view::Source& source_;
  AppSettings settings_;
  History history_;
  port::Fd news_;  // an eventfd: frames have come
  std::uint64_t spread_ = 0;
  std::set<http::StreamId> streams_;
  std::unique_ptr<http::Server> server_;
};

/// 128 random bits, in hexadecimal.
std::string make_token();

}  // namespace mrc::web
