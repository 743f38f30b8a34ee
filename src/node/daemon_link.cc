#include "node/daemon_link.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace mrc::node {
namespace {

using Clock = std::chrono::steady_clock;

Error away() { return {EAGAIN, "mrcd is not there at the moment: try again"}; }

}  // namespace

DaemonLink::DaemonLink(std::string path, Owner& owner, const LinkSettings& settings)
    : path_(std::move(path)), owner_(owner), settings_(settings) {}

/// Says hello on a new connection and waits for the welcome.
Result<Welcome> DaemonLink::meet(MessageSocket& socket) {
  auto fd = connect_daemon(path_);
  if (!fd) return fd.error();
  socket = MessageSocket(std::move(*fd));
  Hello hello = owner_.introduce();
  hello.network = network_of(socket.fd());
  socket.queue({1, hello});
  const auto end = Clock::now() + settings_.call_timeout;
  Message message;
  while (!stopping() && Clock::now() < end) {
    const auto next = socket.next(message);
    if (next == MessageStream::Next::malformed && socket.foreign())
      return different_versions(socket.foreign()->version, kProtocol);
    if (next == MessageStream::Next::malformed) break;
    if (next == MessageStream::Next::message) {
      if (const auto* welcome = std::get_if<Welcome>(&message.body)) return *welcome;
      if (const auto* no = std::get_if<Answer>(&message.body)) return Error{no->error, no->what};
      break;
    }
    if (!socket.flush()) break;
    wait(socket.fd(), socket.queued() > 0, end - Clock::now());
    if (!socket.receive()) break;
  }
  return Error{ECONNREFUSED, "who listens at " + path_ + " does not answer as mrcd does"};
}

void DaemonLink::adopt(MessageSocket socket, const Welcome& welcome) {
  owner_.on_welcome(welcome);
  const auto locked = lock();
  socket_ = std::move(socket);
  last_id_ = std::max(last_id_, 1u);
  for (const Body& body : owner_.first_words()) socket_.queue({0, body});
  connected_ = true;
}

Status DaemonLink::start() {
  kick_ = port::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!kick_) return port::errno_error("open an eventfd");
  MessageSocket socket;
  const auto welcome = meet(socket);
  if (!welcome) return welcome.error();
  adopt(std::move(socket), *welcome);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are the application's business
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread_.native_handle(), "mrc-node");
  return Done{};
}

void DaemonLink::stop() {
  if (!thread_.joinable()) return;
  stop_ = true;
  kick();
  thread_.join();
  lose();
}

void DaemonLink::after_fork_in_child() {
  if (thread_.joinable())
    new std::thread(std::move(thread_));  // never joined, never destroyed: it isn't here
  connected_ = false;
  dead_ = true;
  socket_.close();
  kick_.reset();
  mutex_.unlock();
}

void DaemonLink::kick() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(kick_.get(), &one, sizeof one);
}

Result<Body> DaemonLink::call(const Body& body, IfLost if_lost, port::Fd beside) {
  const auto end = Clock::now() + settings_.call_timeout;
  const port::NoCancel whole;  // who answers knows where the question waits
  auto locked = lock();
  for (;;) {
    bool lost = false;
    auto answer = call_once(locked, body, std::move(beside), lost, end);
    if (answer || !lost || if_lost == IfLost::fail) return answer;
  }
}

Result<Body> DaemonLink::call_once(std::unique_lock<std::mutex>& locked, const Body& body, port::Fd beside,
                                   bool& lost, Clock::time_point end) {
  // A mrcd that is being restarted is back before long.
  if (!dead_) answered_.wait_until(locked, end, [&] { return connected() || stopping(); });
  if (!connected()) return away();
  Waiting waiting;
  const std::uint32_t id = ++last_id_ == 0 ? ++last_id_ : last_id_;
  waiting_[id] = &waiting;
  socket_.queue({id, body}, std::move(beside));
  kick();
  answered_.wait_until(locked, end, [&] { return waiting.answer || waiting.lost; });
  waiting_.erase(id);
  lost = waiting.lost;
  if (!waiting.answer) return away();
  return std::move(*waiting.answer);
}

void DaemonLink::post_locked(const Body& body) {
  if (!connected()) return;
  socket_.queue({0, body});
  kick();
}

/// Until stop: connected and serving, or trying to be. MRC-NODE-003: mrcd going away costs no QP; when it is
/// back it hears what this process holds.
void DaemonLink::run() {
  Duration pause = settings_.first_retry;
  for (;;) {
    if (connected()) {  // even when it is to stop: for the last words
      serve();
      lose();
      pause = settings_.first_retry;
    }
    if (stopping()) return;
    wait(-1, false, pause);
    if (stopping()) return;
    MessageSocket socket;
    const auto welcome = meet(socket);
    if (welcome) adopt(std::move(socket), *welcome);
    answered_.notify_all();
    pause = std::min(pause * 2, settings_.longest_retry);
  }
}

void DaemonLink::lose() {
  const std::lock_guard lock(mutex_);
  connected_ = false;
  socket_.close();
  for (auto& [id, waiting] : waiting_) waiting->lost = true;
  answered_.notify_all();
}

void DaemonLink::serve() {
  auto next_news = Clock::now() + settings_.news_interval;
  while (!stopping() && move()) {
    if (Clock::now() >= next_news) {
      next_news = Clock::now() + settings_.news_interval;
      if (const auto news = owner_.news()) post(*news);
    }
    bool full = false;
    {
      const std::lock_guard lock(mutex_);
      if (!socket_.flush() || socket_.queued() > settings_.outgoing) return;
      full = socket_.queued() > 0;
    }
    wait(socket_.fd(), full, next_news - Clock::now());
  }
  if (stopping()) {  // last words
    if (const auto news = owner_.news()) post(*news);
    const std::lock_guard lock(mutex_);
    socket_.flush();
  }
}

/// Takes what has arrived. False: the connection is of no use any more.
bool DaemonLink::move() {
  if (!socket_.receive()) return false;
  for (;;) {
    Message message;
    const auto next = socket_.next(message);
    if (next == MessageStream::Next::malformed) return false;
    if (next == MessageStream::Next::more) return true;
    handle(std::move(message));
  }
}

void DaemonLink::handle(Message message) {
  if (const auto* collect = std::get_if<Collect>(&message.body))
    return answer_collect(message.id, collect->with_evs);
  if (message.id == 0) return owner_.on_message(message.body);
  const std::lock_guard lock(mutex_);
  const auto found = waiting_.find(message.id);
  owner_.on_answer(message.body, found != waiting_.end());
  if (found == waiting_.end()) return;  // it waited long enough
  found->second->answer = std::move(message.body);
  answered_.notify_all();
}

void DaemonLink::answer_collect(std::uint32_t id, bool with_evs) {
  const auto tell = [&](Body body) {
    const std::lock_guard lock(mutex_);
    socket_.queue({id, std::move(body)});
    socket_.flush();
  };
  owner_.collect(with_evs, tell);
  tell(Answer{});
}

void DaemonLink::wait(int fd, bool writable, Duration most) {
  pollfd ready[] = {{kick_.get(), POLLIN, 0},
                    {fd, static_cast<short>(writable ? POLLIN | POLLOUT : POLLIN), 0}};
  const auto ns = std::max<std::int64_t>(0, std::chrono::nanoseconds(most).count());
  const timespec limit{ns / 1'000'000'000, ns % 1'000'000'000};
  if (::ppoll(ready, fd >= 0 ? 2 : 1, &limit, nullptr) <= 0 || ready[0].revents == 0) return;
  std::uint64_t count;
  [[maybe_unused]] const auto taken = ::read(kick_.get(), &count, sizeof count);
}

}  // namespace mrc::node
