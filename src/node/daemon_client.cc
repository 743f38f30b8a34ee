#include "node/daemon_client.h"

#include <poll.h>
#include <sys/prctl.h>

#include <cerrno>
#include <chrono>

#include "node/proof.h"

namespace mrc::node {
namespace {

using Clock = std::chrono::steady_clock;

int milliseconds_until(Clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

bool is_event(const Message& message) { return std::holds_alternative<NodeEvent>(message.body); }

}  // namespace

bool may_return(const Error& lost) {
  switch (lost.code) {
    case EPROTO:           // who listens there now is no mrcd,
    case EPROTONOSUPPORT:  // or one of another release,
    case EXDEV:            // of another network namespace,
    case EPERM:            // or of a user who is not trusted
      return false;
    default: return true;
  }
}

Error DaemonClient::unexpected() {
  return {EPROTO, "mrcd gave another answer than asked for: is it another version?"};
}

Result<DaemonClient> DaemonClient::open(const std::string& path, const std::string& device) {
  auto fd = connect_daemon(path);
  if (!fd) return fd.error();
  return adopt(std::move(*fd), device);
}

Result<DaemonClient> DaemonClient::adopt(port::Fd connected, const std::string& device) {
  DaemonClient client;
  client.socket_ = MessageSocket(std::move(connected));
  if (auto met = client.hello(device); !met) return met.error();
  return client;
}

Status DaemonClient::hello(const std::string& device) {
  Hello hello;
  hello.network = network_of(socket_.fd());
  char name[16] = {};
  ::prctl(PR_GET_NAME, name);
  hello.program = name;
  hello.device = device;
  auto welcome = ask<Welcome>(hello);
  // That is how releases before this one turn away who speaks another version, and how one goes that stops.
  if (!welcome && welcome.error().code == ECONNRESET)
    return Error{
        ECONNRESET,
        "mrcd closed the connection at the greeting: if it does so again, it speaks another version of "
        "the protocol, and both must be installed from one release"};
  if (!welcome) return welcome.error();
  welcome_ = std::move(*welcome);
  return Done{};
}

std::uint32_t DaemonClient::send(const Body& body, port::Fd beside) {
  socket_.queue({++last_id_, body}, std::move(beside));
  return last_id_;
}

Result<Message> DaemonClient::next(Duration timeout) {
  const auto end = Clock::now() + timeout;
  for (;;) {
    Message message;
    const auto got = socket_.next(message);
    if (got == MessageStream::Next::message) return message;
    if (got == MessageStream::Next::malformed)
      return socket_.foreign() ? different_versions(socket_.foreign()->version, kProtocol) : unexpected();
    if (!socket_.flush()) return Error{ECONNRESET, "mrcd is gone"};
    pollfd ready{socket_.fd(), static_cast<short>(socket_.queued() > 0 ? POLLIN | POLLOUT : POLLIN), 0};
    const int n = ::poll(&ready, 1, milliseconds_until(end));
    if (n == 0) return Error{ETIMEDOUT, "mrcd does not answer: is it stopped?"};
    if (n > 0 && (ready.revents & ~POLLOUT) != 0 && !socket_.receive())
      return Error{ECONNRESET, "mrcd closed the connection"};
  }
}

Result<Body> DaemonClient::answer_to(std::uint32_t id, Duration timeout) {
  for (;;) {
    auto message = next(timeout);
    if (!message) return message.error();
    if (is_event(*message)) events_.push_back(std::get<NodeEvent>(message->body));
    if (message->id != id) continue;
    if (const auto* answer = std::get_if<Answer>(&message->body); answer != nullptr && answer->error != 0)
      return Error{answer->error, answer->what};
    return std::move(message->body);
  }
}

Result<Body> DaemonClient::call(const Body& body, Duration timeout) { return answer_to(send(body), timeout); }

Status DaemonClient::prove() {
  auto proof = make_proof({welcome_.receive_challenge, welcome_.send_challenge});
  if (!proof) return proof.error();
  auto answer = answer_to(send(Prove{}, std::move(*proof)), 5s);
  if (!answer) return answer.error();
  return Done{};
}

Result<Snapshot> DaemonClient::snapshot(bool with_evs) {
  const std::uint32_t id = send(GetSnapshot{with_evs});
  Snapshot snapshot;
  for (;;) {
    auto message = next(10s);
    if (!message) return message.error();
    if (is_event(*message)) events_.push_back(std::get<NodeEvent>(message->body));
    if (message->id != id) continue;
    if (auto* head = std::get_if<SnapshotHead>(&message->body)) {
      snapshot = std::move(head->snapshot);
    } else if (auto* report = std::get_if<Report>(&message->body)) {
      snapshot.processes.push_back(std::move(report->process));
    } else if (auto* part = std::get_if<QpPart>(&message->body)) {
      if (snapshot.processes.empty()) return unexpected();
      auto& qps = snapshot.processes.back().qps;
      qps.insert(qps.end(), std::make_move_iterator(part->qps.begin()),
                 std::make_move_iterator(part->qps.end()));
    } else if (const auto* answer = std::get_if<Answer>(&message->body)) {
      if (answer->error == EOVERFLOW) snapshot.truncated = true;
      if (answer->error != 0 && answer->error != EOVERFLOW) return Error{answer->error, answer->what};
      return snapshot;
    } else {
      return unexpected();
    }
  }
}

Status DaemonClient::subscribe(std::uint32_t kinds) {
  auto answer = call(Subscribe{kinds});
  if (!answer) return answer.error();
  return Done{};
}

Result<std::optional<NodeEvent>> DaemonClient::next_event(Duration timeout) {
  if (events_.empty()) {
    auto message = next(timeout);
    if (!message && message.error().code == ETIMEDOUT) return std::optional<NodeEvent>();
    if (!message) return message.error();
    if (is_event(*message)) events_.push_back(std::get<NodeEvent>(message->body));
  }
  if (events_.empty()) return std::optional<NodeEvent>();
  std::optional<NodeEvent> event(std::move(events_.front()));
  events_.pop_front();
  return event;
}

}  // namespace mrc::node
