#include "http/server.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <vector>

namespace mrc::http {
namespace {

constexpr StreamId kListener = 0;
constexpr std::size_t kReadBytes = 16 * 1024;
constexpr std::chrono::milliseconds kCheckEvery{250};

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

Result<SocketAddress> parse_address(const std::string& text, std::uint16_t port) {
  SocketAddress a;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&a.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&a.storage);
  if (::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    a.length = sizeof *v4;
  } else if (::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    a.length = sizeof *v6;
  } else {
    return Error{EINVAL, text + " is no IPv4 or IPv6 address; 127.0.0.1 or ::1 is this machine alone"};
  }
  return a;
}

std::uint16_t port_of(int fd) {
  SocketAddress a;
  a.length = sizeof a.storage;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&a.storage), &a.length);
  return ntohs(reinterpret_cast<const sockaddr_in*>(&a.storage)->sin_port);  // at the same place in IPv6
}

}  // namespace

struct Server::Connection {
  Connection(StreamId number, port::Fd socket, const Limits& limits)
      : id(number), fd(std::move(socket)), parser(limits) {}

  StreamId id;
  port::Fd fd;
  RequestParser parser;
  std::string in;   // arrived and not parsed: of a request after the present one
  std::string out;  // not yet taken by the reader, from `sent` on
  std::size_t sent = 0;
  bool stream = false;
  bool ending = false;         // after `out` is gone
  bool writable = true;        // as far as we know
  Clock::time_point since;     // the request that is arriving began; or the last one was answered
  Clock::time_point progress;  // the reader last took something

  std::size_t unsent() const { return out.size() - sent; }
};

Result<std::unique_ptr<Server>> Server::listen(const std::string& address, std::uint16_t port,
                                               Handler& handler, const ServerSettings& settings) {
  const auto at = parse_address(address, port);
  if (!at) return at.error();
  std::unique_ptr<Server> s(new Server(handler, settings));
  s->listener_.reset(::socket(at->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int one = 1;
  ::setsockopt(s->listener_.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  const std::string where = address + " port " + std::to_string(port);
  if (::bind(s->listener_.get(), reinterpret_cast<const sockaddr*>(&at->storage), at->length) != 0)
    return port::errno_error("listen at " + where);
  if (::listen(s->listener_.get(), 128) != 0) return port::errno_error("listen at " + where);
  s->port_ = port_of(s->listener_.get());
  s->epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event e{.events = EPOLLIN, .data = {.u64 = kListener}};
  if (::epoll_ctl(s->epoll_.get(), EPOLL_CTL_ADD, s->listener_.get(), &e) != 0)
    return port::errno_error("watch " + where);
  return s;
}

Server::Server(Handler& handler, const ServerSettings& settings) : handler_(handler), settings_(settings) {}
Server::~Server() = default;

void Server::turn(std::chrono::milliseconds wait) {
  epoll_event events[64];
  const int n = ::epoll_wait(epoll_.get(), events, std::size(events), static_cast<int>(wait.count()));
  for (int i = 0; i < n; ++i) {
    if (events[i].data.u64 == kListener) {
      accept_all();
    } else if (const auto c = connections_.find(events[i].data.u64); c != connections_.end()) {
      serve(*c->second, events[i].events);
    }
  }
  check_deadlines(Clock::now());
}

void Server::accept_all() {
  for (int i = 0; i < 64; ++i) {
    port::Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) {
      // Without a descriptor the newcomer stays in the queue, and the listener ready: asked at once again it
      // would be so for ever. Whoever waits is served once something has closed.
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        make_room(), listen_for(false);
      return;
    }
    if (connections_.size() >= settings_.connections) make_room();
    if (connections_.size() >= settings_.connections) continue;  // all are streams: the newcomer goes
    const int one = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    epoll_event e{.events = EPOLLIN | EPOLLRDHUP, .data = {.u64 = next_id_}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd.get(), &e) != 0) continue;
    auto c = std::make_unique<Connection>(next_id_++, std::move(fd), settings_.limits);
    c->since = c->progress = Clock::now();
    connections_.emplace(c->id, std::move(c));
  }
}

// Whoever opens connections and says nothing must not keep others out; streams are in use and stay.
void Server::make_room() {
  const Connection* oldest = nullptr;
  for (const auto& [id, c] : connections_) {
    if (!c->stream && (oldest == nullptr || c->since < oldest->since)) oldest = c.get();
  }
  if (oldest != nullptr) close(oldest->id);
}

void Server::listen_for(bool newcomers) {
  resting_ = !newcomers;
  epoll_event e{.events = newcomers ? static_cast<std::uint32_t>(EPOLLIN) : 0u, .data = {.u64 = kListener}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listener_.get(), &e);
}

void Server::serve(Connection& c, std::uint32_t events) {
  const StreamId id = c.id;
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) return close(id);
  if ((events & EPOLLOUT) != 0) c.writable = true;
  if ((events & (EPOLLIN | EPOLLRDHUP)) != 0 && !read(c)) return close(id);
  answer(c);
  if (!flush(c)) return close(id);
  watch(c);
}

/// False: the peer is gone, or speaks where nobody listens.
bool Server::read(Connection& c) {
  char bytes[kReadBytes];
  const ssize_t n = ::recv(c.fd.get(), bytes, sizeof bytes, 0);
  if (n == 0) return false;
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (c.stream || c.ending) return true;  // nothing that it says matters any more
  if (!c.parser.begun() && c.in.empty()) c.since = Clock::now();
  if (c.in.size() > settings_.limits.head_bytes + settings_.limits.body_bytes) return false;
  c.in.append(bytes, static_cast<std::size_t>(n));
  return true;
}

// A peer that asks on and reads nothing waits: answers do not pile up.
void Server::answer(Connection& c) {
  while (!c.stream && !c.ending && !c.in.empty() && c.unsent() == 0) {
    std::string_view rest = c.in;
    const RequestParser::State state = c.parser.take(rest);
    c.in.erase(0, c.in.size() - rest.size());
    if (state == RequestParser::State::more) return;
    if (state == RequestParser::State::refused) return refuse(c, c.parser.status());
    answer_one(c, c.parser.request());
    if (!flush(c)) c.ending = true;
  }
}

void Server::answer_one(Connection& c, const Request& request) {
  const Response response = handler_.handle(request);
  c.out += to_bytes(response, request.keep_alive, request.method == "HEAD");
  c.ending = !request.keep_alive && !response.stream;
  c.since = c.progress = Clock::now();
  if (!response.stream) return;
  c.stream = true;
  c.in.clear();
  handler_.on_open(c.id, request);
}

void Server::refuse(Connection& c, int status) {
  c.out += to_bytes(text_response(status, std::string(reason(status))), false, false);
  c.ending = true;
  c.in.clear();
  c.progress = Clock::now();
}

/// False: the connection has ended.
bool Server::flush(Connection& c) {
  while (c.unsent() > 0 && c.writable) {
    const ssize_t n = ::send(c.fd.get(), c.out.data() + c.sent, c.unsent(), MSG_NOSIGNAL);
    if (n < 0) {
      if (errno != EAGAIN && errno != EINTR) return false;
      c.writable = errno != EAGAIN;
      continue;
    }
    c.sent += static_cast<std::size_t>(n);
    c.progress = Clock::now();
  }
  if (c.unsent() == 0) {
    c.out.clear();
    c.sent = 0;
  } else if (c.sent > (1u << 20)) {
    c.out.erase(0, c.sent);
    c.sent = 0;
  }
  return !(c.ending && c.unsent() == 0);
}

void Server::watch(Connection& c) {
  epoll_event e{.events = EPOLLRDHUP, .data = {.u64 = c.id}};
  if (c.unsent() > 0) e.events |= EPOLLOUT;
  if (c.unsent() == 0 || c.stream) e.events |= EPOLLIN;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, c.fd.get(), &e);
}

void Server::close(StreamId id) {
  const auto c = connections_.find(id);
  if (c == connections_.end()) return;
  const bool stream = c->second->stream;
  connections_.erase(c);
  if (stream) handler_.on_close(id);
}

void Server::check_deadlines(Clock::time_point now) {
  if (now - checked_ < kCheckEvery) return;
  checked_ = now;
  if (resting_) listen_for(true);
  std::vector<StreamId> late;
  for (const auto& [id, c] : connections_) {
    const bool asking = c->parser.begun() || !c->in.empty();
    const auto allowed = asking ? settings_.patience : settings_.idle;
    if (c->unsent() > 0 ? now - c->progress > settings_.patience : !c->stream && now - c->since > allowed)
      late.push_back(id);
  }
  for (const StreamId id : late) close(id);
}

bool Server::send(StreamId stream, std::string_view bytes) {
  const auto found = connections_.find(stream);
  if (found == connections_.end() || !found->second->stream) return false;
  Connection& c = *found->second;
  if (c.unsent() + bytes.size() > settings_.stream_backlog) return false;
  if (c.unsent() == 0) c.progress = Clock::now();
  c.out.append(bytes);
  watch(c);  // turn() writes: a handler may call this while its own connection is being served
  return true;
}

std::size_t Server::backlog(StreamId stream) const {
  const auto found = connections_.find(stream);
  return found == connections_.end() ? 0 : found->second->unsent();
}

bool is_loopback_name(std::string_view host) {
  if (host.starts_with('[')) {
    host = host.substr(1, host.find(']') - 1);
  } else if (std::count(host.begin(), host.end(), ':') == 1) {
    host = host.substr(0, host.find(':'));
  }
  if (host == "localhost" || host == "::1") return true;
  in_addr v4{};
  return ::inet_pton(AF_INET, std::string(host).c_str(), &v4) == 1 && (ntohl(v4.s_addr) >> 24) == 127;
}

}  // namespace mrc::http
