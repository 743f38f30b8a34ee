// Connections: accepting them, moving bytes, letting them go.
#include "daemon/daemon.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "daemon/listen.h"
#include "daemon/state_file.h"
#include "port/local_socket.h"

namespace mrc::daemon {
namespace {

constexpr auto kTick = std::chrono::seconds(1);

void add(int epoll, int fd, void* who) {
  epoll_event event{.events = EPOLLIN, .data = {.ptr = who}};
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

}  // namespace

Daemon::~Daemon() {
  for (auto& [key, device] : devices_) {
    if (device->device != nullptr) device->device->unlisten(this);
  }
  if (dirty_ || unsaved_) (void)save_state(settings_.state_file, devices_);
  if (own_path_) ::unlink(settings_.socket.c_str());
}

Status Daemon::open(port::Fd listening) {
  epoll_ = port::Fd(::epoll_create1(EPOLL_CLOEXEC));
  kick_ = port::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!epoll_ || !kick_) return port::errno_error("open an epoll set");
  if (listening) {
    listening_ = std::move(listening);
  } else {
    auto opened = listen_at(settings_.socket, settings_.socket_mode);
    if (!opened) return opened.error();
    listening_ = std::move(*opened);
    own_path_ = true;
  }
  add(epoll_.get(), listening_.get(), &listening_);
  add(epoll_.get(), kick_.get(), &kick_);
  if (auto metrics = open_metrics(); !metrics) return metrics.error();
  return load_state(settings_.state_file, devices_);
}

void Daemon::add_own(std::shared_ptr<lib::Device> device) {
  std::vector<node::PortPlace> places;
  for (const lib::PortConfig& port : device->config().ports)
    places.push_back({port.interface.name, port.address});
  auto& known = devices_[key_of(places)];
  if (known == nullptr) {
    known = std::make_unique<DeviceState>(device->config().name, device->config().guid, places);
  }
  known->name.clear();
  for (auto& [key, other] : devices_) {  // whatever processes call theirs, mrcd's own keep their names
    if (other->name == device->config().name) other->name = name_beside(devices_, other->name, other->ports);
  }
  known->name = device->config().name;
  known->guid = device->config().guid;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const PortId port(static_cast<std::uint8_t>(i + 1));
    known->ports[i].interface = places[i].interface;
    if (known->disabled.has(port)) device->set_port_admin(port, false);
    if (device->port_status(port).link_up) links_up_[key_of(places)].add(port);
  }
  device->listen(this);
  known->device = std::move(device);
}

void Daemon::run(int stop) {
  add(epoll_.get(), stop, &settings_);
  for (;;) {
    epoll_event events[64];
    const int n = ::epoll_wait(epoll_.get(), events, 64, wait_ms());
    for (int i = 0; i < n; ++i) {
      void* who = events[i].data.ptr;
      if (who == &settings_) return;
      if (who == &listening_) {
        accept();
      } else if (who == &kick_) {
        take_link_events();
      } else if (who == &mapping_) {
        continue;  // settle() turns it
      } else if (who == &metrics_) {
        metrics_->turn(std::chrono::milliseconds(0));
      } else {
        serve(*static_cast<Session*>(who), events[i].events);
      }
    }
    settle();
  }
}

int Daemon::wait_ms() const {
  if (!touched_.empty() || !closing_.empty()) return 0;
  auto next = next_tick_;
  for (const PendingSnapshot& pending : snapshots_) next = std::min(next, pending.deadline);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
  const int most = mapping_ != nullptr ? mapping_->wait_ms() : 1000;
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, most));
}

void Daemon::accept() {
  constexpr int kAtATime = 64;
  for (int i = 0; i < kAtATime; ++i) {
    port::Fd fd(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) {
      if (errno == EMFILE || errno == ENFILE) rest_from_accepting();
      return;
    }
    const auto peer = port::peer_of(fd.get());
    if (!peer || sessions_.size() >= settings_.most_sessions) continue;
    std::size_t& of_user = sessions_of_[peer->uid];
    if (peer->uid != 0 && of_user >= settings_.most_sessions_of_a_user) continue;
    ++of_user;
    sessions_.push_back(
        std::make_unique<Session>(std::move(fd), static_cast<std::uint32_t>(peer->pid), peer->uid));
    sessions_.back()->place = std::prev(sessions_.end());
    add(epoll_.get(), sessions_.back()->socket.fd(), sessions_.back().get());
  }
}

/// Whoever waits still waits, and would wake us again at once: until the next tick nobody does.
void Daemon::rest_from_accepting() {
  std::fprintf(stderr,
               "mrcd: too many open files with %zu sessions, others wait: raise its limit (ulimit -n)\n",
               sessions_.size());
  hear_of_connections(false);
  accepting_ = false;
}

void Daemon::hear_of_connections(bool wanted) {
  epoll_event event{.events = wanted ? EPOLLIN : 0u, .data = {.ptr = &listening_}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listening_.get(), &event);
}

void Daemon::serve(Session& session, std::uint32_t events) {
  if (closing_.contains(&session)) return;
  touched_.insert(&session);
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && !take(session)) closing_.insert(&session);
}

/// Reads once and handles what is whole: a busy session waits for its next turn.
bool Daemon::take(Session& session) {
  const bool alive = session.socket.receive();
  return handle_some(session) && alive;
}

/// Stops when enough answers wait: who does not read is not served, and costs no more memory.
bool Daemon::handle_some(Session& session) {
  constexpr std::size_t kEnough = 1 << 20;
  for (;;) {
    session.paused = session.socket.queued() >= kEnough;
    if (session.paused) return true;
    node::Message message;
    const auto next = session.socket.next(message);
    if (next == node::MessageStream::Next::malformed) {
      if (!session.greeted && session.socket.foreign()) turn_away(session, *session.socket.foreign());
      return false;
    }
    if (next == node::MessageStream::Next::more) return true;
    if (!handle(session, message)) return false;
  }
}

/// In its own version, so that it can tell its user.
void Daemon::turn_away(Session& session, const node::MessageStream::Foreign& who) {
  std::vector<std::uint8_t> bytes;
  const Error why = node::different_versions(node::kProtocol, who.version);
  node::emit_message({who.id, node::Answer{why.code, 0, why.what}}, bytes, who.version);
  session.socket.queue_bytes(bytes);
  session.socket.flush();
}

/// After each round: events go out, the state is stored, then answers leave. So an answer means that it is
/// stored.
void Daemon::settle() {
  const bool ticks = Clock::now() >= next_tick_;
  if (ticks) tick();
  // Once a second in any case: profiles may be new.
  if (mapping_ != nullptr && (mapping_->turn() || ticks)) follow_findings();
  finish_snapshots();
  for (Session* gone : closing_) close(*gone);
  closing_.clear();
  for (auto& [key, device] : devices_) drain_ev_events(*device);
  if (dirty_ || (ticks && unsaved_)) unsaved_ = !save_state(settings_.state_file, devices_);
  dirty_ = false;
  const std::set<Session*> some = std::exchange(touched_, {});
  for (Session* session : some) flush(*session);
}

void Daemon::flush(Session& session) {
  bool alive = true;
  do {  // until the socket takes no more: only then will it be heard of again
    pump(session);
    alive = session.socket.flush();
  } while (alive && session.socket.queued() == 0 && !session.events.empty());
  if (alive && session.paused && session.socket.queued() == 0) {
    alive = handle_some(session);
    touched_.insert(&session);
  }
  if (!alive) closing_.insert(&session);
  const std::size_t left = session.socket.queued();
  if (left == 0) session.stuck_since = {};
  if (left != 0 && (session.unsent == 0 || left < session.unsent)) session.stuck_since = Clock::now();
  const bool changed = (left == 0) != (session.unsent == 0);
  session.unsent = left;
  if (changed) watch(session);
}

/// Reads from who reads.
void Daemon::watch(Session& session) {
  epoll_event event{.events = session.unsent > 0 ? EPOLLOUT : EPOLLIN, .data = {.ptr = &session}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, session.socket.fd(), &event);
}

void Daemon::close(Session& session) {
  leave(session);
  forget_snapshots(session);
  touched_.erase(&session);
  if (--sessions_of_[session.uid] == 0) sessions_of_.erase(session.uid);
  sessions_.erase(session.place);
}

void Daemon::tick() {
  const auto now = Clock::now();
  next_tick_ = now + kTick;
  if (!std::exchange(accepting_, true)) hear_of_connections(true);
  if (metrics_ != nullptr) metrics_->turn(std::chrono::milliseconds(0));
  for (const auto& session : sessions_) {
    const bool silent = !session->greeted && now - session->since > settings_.hello_timeout;
    const bool stuck = session->unsent > 0 && now - session->stuck_since > settings_.stuck_timeout;
    if (silent || stuck) closing_.insert(session.get());
  }
}

std::size_t Daemon::unsent() const {
  std::size_t sum = 0;
  for (const auto& session : sessions_) sum += session->socket.queued();
  for (const auto& pending : snapshots_) sum += pending.bytes;
  return sum;
}

}  // namespace mrc::daemon
