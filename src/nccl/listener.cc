#include "nccl/listener.h"

#include <poll.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>

#include "nccl/log.h"

namespace mrc::nccl {
namespace {

constexpr int kGreetingMs = 5'000;                        // a caller of ours speaks at once
constexpr auto kPrompt = std::chrono::milliseconds(100);  // who has not by then may be a stranger
constexpr std::size_t kMeetings = 16;                     // at the same time

std::uint64_t random_word() {
  std::uint64_t word = 0;
  while (::getrandom(&word, sizeof word, 0) != sizeof word) continue;
  return word;
}

/// One port: its address. Several: all addresses, so that callers find a plane that works.
Result<openmrc_listener*> listen_at(const std::vector<IpAddress>& addresses) {
  openmrc_listener* listener = nullptr;
  if (addresses.size() > 1 && ::openmrc_listen("::", "0", &listener) == 0) return listener;
  const std::string host = addresses.size() > 1 ? "0.0.0.0" : text_of(addresses.front());
  if (const int error = ::openmrc_listen(host.c_str(), "0", &listener); error != 0)
    return Error{error, ::openmrc_error()};
  return listener;
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::make(const Device& device) {
  const auto addresses = device.addresses();
  if (addresses.empty()) return Error{EADDRNOTAVAIL, device.properties().name + " has lost its address"};
  const auto tcp = listen_at(addresses);
  if (!tcp) return tcp.error();
  return std::unique_ptr<Listener>(new Listener(device, TcpListener(*tcp, &::openmrc_destroy_listener)));
}

Listener::Listener(const Device& device, TcpListener tcp)
    : device_(device), tcp_(std::move(tcp)), cookie_(random_word()), answer_(random_word()) {}

Handle Listener::handle() const {
  return make_handle(device_.addresses(), static_cast<std::uint16_t>(::openmrc_listener_port(tcp_.get())),
                     static_cast<std::uint8_t>(device_.settings().qps), cookie_, answer_);
}

Status Listener::wait_on() {
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::milliseconds patience(device_.settings().connect_timeout_ms);
  if (!waits_since_) waits_since_ = now;
  if (now - *waits_since_ < patience || !meetings_.empty()) return Done{};
  const auto addresses = device_.addresses();  // which may have gone meanwhile
  const std::string where = addresses.empty() ? device_.properties().name : text_of(addresses.front());
  return Error{ETIMEDOUT, "nobody has connected to " + where + " port " +
                              std::to_string(::openmrc_listener_port(tcp_.get())) + " for " +
                              std::to_string(patience.count()) + " ms (NCCL_OPENMRC_CONNECT_TIMEOUT_MS)"};
}

/// One at a time, unless the last one is slow.
bool Listener::may_meet_another() const {
  return meetings_.empty() ||
         (meetings_.size() < kMeetings && std::chrono::steady_clock::now() - last_began_ > kPrompt);
}

bool Listener::somebody_waits() const {
  pollfd fd{::openmrc_listener_fd(tcp_.get()), POLLIN, 0};
  return ::poll(&fd, 1, 0) > 0;
}

Status Listener::start_meeting() {
  auto link = Receiver::prepare(device_, device_.settings().qps);
  if (!link) return link.error();
  const Introduction ours = (*link)->ring().introduction(answer_);
  last_began_ = std::chrono::steady_clock::now();
  auto meeting = Meeting::start(*std::move(link), [tcp = tcp_, ours, cookie = cookie_](auto& l) -> Status {
    if (auto met = l->accept(tcp.get(), ours, cookie, kGreetingMs); !met) return met;
    return Receiver::check(l->peer());
  });
  if (!meeting) return meeting.error();
  meetings_.push_back(*std::move(meeting));
  return Done{};
}

Result<std::unique_ptr<Receiver>> Listener::accept() {
  if (may_meet_another() && somebody_waits()) {
    if (auto started = start_meeting(); !started) return started.error();
  }
  const auto over = std::find_if(meetings_.begin(), meetings_.end(), [](const auto& m) { return m->over(); });
  if (over == meetings_.end()) {
    if (auto waits = wait_on(); !waits) return waits.error();
    return std::unique_ptr<Receiver>();
  }
  auto link = (*over)->outcome();
  meetings_.erase(over);
  if (!link) {
    // Who left without a word only asked whether this plane works: a sender does, where there are several.
    if (link.error().code != ECONNRESET) info("turned a caller away: " + link.error().what);
    return std::unique_ptr<Receiver>();
  }
  waits_since_.reset();
  info("receives from " + (*link)->peer_name() + ", queue pairs " + std::to_string((*link)->qps()));
  return std::make_unique<Receiver>(*std::move(link));
}

}  // namespace mrc::nccl
