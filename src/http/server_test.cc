// The server over loopback: requests, streams, strangers.
#include "http/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace mrc::http {
namespace {

using namespace std::chrono_literals;

struct Echo final : Handler {
  Response handle(const Request& r) override {
    ++handled;
    if (r.path == "/stream") return {.type = "text/event-stream", .body = ": hello\n\n", .stream = true};
    if (r.path == "/large") return {.body = std::string(4u << 20, 'x')};
    return {.body = r.method + " " + r.path + " " + r.body};
  }
  void on_open(StreamId id, const Request&) override { stream = id; }
  void on_close(StreamId id) override { closed = id; }

  int handled = 0;
  StreamId stream = 0, closed = 0;
};

class HttpServer : public ::testing::Test {
 protected:
  void start(const ServerSettings& settings = {}) {
    auto made = Server::listen("127.0.0.1", 0, handler, settings);
    ASSERT_TRUE(made) << made.error().what;
    server = std::move(*made);
  }
  port::Fd connect() {
    port::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(server->port());
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    return fd;
  }
  static void say(const port::Fd& fd, std::string_view text) {
    EXPECT_EQ(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  /// What arrives until `end` is in it, the server closes, or 5 s have gone by.
  std::string hear(const port::Fd& fd, std::string_view end) {
    std::string heard;
    const auto until = std::chrono::steady_clock::now() + 5s;
    while (heard.find(end) == std::string::npos && std::chrono::steady_clock::now() < until) {
      server->turn(1ms);
      pollfd p{fd.get(), POLLIN, 0};
      if (::poll(&p, 1, 0) <= 0) continue;
      char bytes[65536];
      const ssize_t n = ::recv(fd.get(), bytes, sizeof bytes, 0);
      if (n <= 0) return heard + "<closed>";
      heard.append(bytes, static_cast<std::size_t>(n));
    }
    return heard;
  }
  template <class Condition>
  bool turn_until(Condition&& condition, std::chrono::milliseconds most = 5000ms) {
    const auto until = std::chrono::steady_clock::now() + most;
    while (!condition() && std::chrono::steady_clock::now() < until) server->turn(1ms);
    return condition();
  }

  Echo handler;
  std::unique_ptr<Server> server;
};

TEST_F(HttpServer, AnswersSeveralRequestsOnOneConnection) {
  start();
  const port::Fd fd = connect();
  say(fd,
      "GET /one HTTP/1.1\r\nHost: h\r\n\r\nPOST /two HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc");
  const std::string heard = hear(fd, "POST /two abc");
  EXPECT_NE(heard.find("GET /one "), std::string::npos);
  EXPECT_NE(heard.find("POST /two abc"), std::string::npos);
}

TEST_F(HttpServer, RefusesAndCloses) {
  start();
  const port::Fd fd = connect();
  say(fd, "\x16\x03\x01 this is no HTTP\r\n\r\n");
  const std::string heard = hear(fd, "<never>");
  EXPECT_TRUE(heard.starts_with("HTTP/1.1 400 ")) << heard;
  EXPECT_TRUE(heard.ends_with("<closed>"));
  EXPECT_EQ(handler.handled, 0);
}

TEST_F(HttpServer, StreamsEventsUntilTheReaderGoes) {
  start();
  port::Fd fd = connect();
  say(fd, "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_NE(hear(fd, ": hello").find("text/event-stream"), std::string::npos);
  ASSERT_NE(handler.stream, 0u);
  EXPECT_TRUE(server->send(handler.stream, event_text("frame", "{}")));
  EXPECT_EQ(hear(fd, "\n\n"), "event: frame\ndata: {}\n\n");
  fd.reset();
  EXPECT_TRUE(turn_until([&] { return handler.closed == handler.stream; }));
  EXPECT_FALSE(server->send(handler.stream, "x"));
}

TEST_F(HttpServer, DropsEventsOfASlowReaderAndKeepsItsMemory) {
  start({.stream_backlog = 100'000});
  const port::Fd fd = connect();
  say(fd, "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(turn_until([&] { return handler.stream != 0; }));
  const std::string event = event_text("frame", std::string(50'000, 'x'));
  bool refused = false;
  for (int i = 0; i < 1000 && !refused; ++i) {
    refused = !server->send(handler.stream, event);
    server->turn(0ms);
  }
  EXPECT_TRUE(refused);
  EXPECT_LE(server->backlog(handler.stream), 100'000u);
}

TEST_F(HttpServer, GivesUpOnRequestsThatNeverEnd) {
  start({.patience = 50ms, .idle = 200ms});
  const port::Fd slow = connect(), silent = connect();
  say(slow, "GET / HTTP/1.1\r\nHo");
  EXPECT_TRUE(turn_until([&] { return server->connections() == 2; }));
  EXPECT_TRUE(turn_until([&] { return server->connections() == 0; }));
  EXPECT_EQ(handler.handled, 0);
}

TEST_F(HttpServer, GivesUpOnReadersThatNeverRead) {
  start({.patience = 50ms});
  const port::Fd fd = connect();
  for (int i = 0; i < 4; ++i) say(fd, "GET /large HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(turn_until([&] { return handler.handled > 0; }));
  EXPECT_TRUE(turn_until([&] { return server->connections() == 0; }));
  EXPECT_LT(handler.handled, 4);  // answers do not pile up
}

TEST_F(HttpServer, AnswersWhileAThousandSaySomethingSlowly) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
  ::setrlimit(RLIMIT_NOFILE, &files);
  start();
  std::vector<port::Fd> crowd;
  for (int i = 0; i < 1000; ++i) {
    crowd.push_back(connect());
    server->turn(0ms);
    ::send(crowd.back().get(), "GET / HT", 8, MSG_NOSIGNAL);
  }
  EXPECT_TRUE(turn_until([&] { return server->connections() == ServerSettings{}.connections; }));
  const port::Fd fd = connect();
  say(fd, "GET /mine HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_NE(hear(fd, "GET /mine").find("200 OK"), std::string::npos);
}

// Streams are in use and stay: there is nobody to send away, and whoever waits outside must not make it spin.
TEST_F(HttpServer, RestsWhenThereAreNoDescriptorsLeft) {
  start();
  const port::Fd stream = connect();
  say(stream, "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
  hear(stream, "hello");
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const port::Fd waiting = connect();
  say(waiting, "GET /mine HTTP/1.1\r\nHost: h\r\n\r\n");
  const rlimit none{static_cast<rlim_t>(waiting.get()) + 1, before.rlim_max};
  std::vector<port::Fd> holes;  // below the limit
  ::setrlimit(RLIMIT_NOFILE, &none);
  for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) holes.emplace_back(fd);
  server->turn(0ms);  // finds it, can not take it
  int busy = 0;
  for (int i = 0; i < 50; ++i) {
    pollfd p{server->fd(), POLLIN, 0};
    busy += ::poll(&p, 1, 0) > 0;
    server->turn(0ms);
  }
  EXPECT_LT(busy, 5);  // one check may fall into it
  ::setrlimit(RLIMIT_NOFILE, &before);
  holes.clear();
  EXPECT_NE(hear(waiting, "GET /mine").find("200 OK"), std::string::npos);
}

TEST_F(HttpServer, KnowsNamesOfThisMachine) {
  for (const char* name : {"localhost", "localhost:80", "127.0.0.1:8080", "127.1.2.3", "[::1]:8080", "::1"})
    EXPECT_TRUE(is_loopback_name(name)) << name;
  for (const char* name :
       {"", "example.org", "127.0.0.1.example.org", "localhost.example.org:80", "[::2]", "10.0.0.1"})
    EXPECT_FALSE(is_loopback_name(name)) << name;
}

TEST_F(HttpServer, SaysWhatIsWrongWithAnAddress) {
  const auto made = Server::listen("nowhere", 0, handler);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().what.find("127.0.0.1"), std::string::npos);
}

}  // namespace
}  // namespace mrc::http
