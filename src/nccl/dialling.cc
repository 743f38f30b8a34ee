#include "nccl/dialling.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "nccl/log.h"
#include "nccl/meeting.h"

namespace mrc::nccl {
namespace {

constexpr int kFirstTryMs = 100, kLongestTryMs = 2'000;

/// A host may have no IPv6 at all, so IPv4 is not asked for through it.
int start_to_connect(int fd, const IpAddress& address, std::uint16_t port) {
  sockaddr_in v4{AF_INET, htons(port), {}, {}};
  sockaddr_in6 v6{AF_INET6, htons(port), 0, {}, 0};
  std::memcpy(&v4.sin_addr, address.data() + 12, sizeof v4.sin_addr);
  std::memcpy(&v6.sin6_addr, address.data(), sizeof v6.sin6_addr);
  const int done = is_v4(address) ? ::connect(fd, reinterpret_cast<sockaddr*>(&v4), sizeof v4)
                                  : ::connect(fd, reinterpret_cast<sockaddr*>(&v6), sizeof v6);
  return done == 0 ? 0 : errno;
}

/// Does anybody answer there within this time? Only asked where there are other addresses to turn to.
bool answers(const IpAddress& address, std::uint16_t port, int timeout_ms) {
  const int family = is_v4(address) ? AF_INET : AF_INET6;
  const int fd = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  int error = start_to_connect(fd, address, port);
  if (error == EINPROGRESS) {
    pollfd p{fd, POLLOUT, 0};
    socklen_t size = sizeof error;
    if (::poll(&p, 1, timeout_ms) <= 0 || ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
      error = ETIMEDOUT;
  }
  ::close(fd);
  return error == 0;
}

using Clock = std::chrono::steady_clock;

int ms_until(Clock::time_point then) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(then - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

/// The first plane that works; null when none seems to.
const IpAddress* choose(const std::vector<IpAddress>& addresses, std::uint16_t port,
                        Clock::time_point deadline) {
  for (int wait = kFirstTryMs; wait <= kLongestTryMs; wait *= 4) {
    for (const IpAddress& address : addresses) {
      const int time = std::min(wait, ms_until(deadline));
      if (time == 0) return nullptr;
      if (answers(address, port, time)) return &address;
    }
  }
  return nullptr;
}

/// Where there is a choice, half of the time is for it.
Status meet_once(Link& link, const Handle& handle, Clock::time_point deadline) {
  const std::vector<IpAddress> addresses = addresses_of(handle, link.device().addresses());
  const bool several = addresses.size() > 1;
  const auto half = deadline - std::chrono::milliseconds(ms_until(deadline) / 2);
  const IpAddress* chosen = several ? choose(addresses, handle.tcp_port, half) : nullptr;
  const std::string host = text_of(chosen != nullptr ? *chosen : addresses[0]);
  const Introduction ours = link.ring().introduction(handle.cookie);
  auto met = link.connect(host, handle.tcp_port, ours, handle.answer, ms_until(deadline));
  if (met || !several || chosen != nullptr) return met;
  std::string tried;
  for (const IpAddress& address : addresses) tried += " " + text_of(address);
  return Error{met.error().code, met.error().what + "; none of its addresses answers:" + tried};
}

/// A plane that answered may die before the two have met: then they meet on another, with other queue pairs,
/// since these may have gone half of the way.
Status meet(std::unique_ptr<Link>& link, const Handle& handle, int traffic_class, int timeout_ms) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  while (true) {
    const Status met = meet_once(*link, handle, deadline);
    if (met || met.error().code != EHOSTDOWN || ms_until(deadline) == 0) return met;
    auto fresh = Sender::prepare(link->device(), handle.qps, traffic_class);
    if (!fresh) return fresh.error();
    link = *std::move(fresh);
  }
}

struct Attempt {
  std::shared_ptr<Meeting> meeting;
  Clock::time_point asked;  // last
};
/// All attempts of this process.
struct Attempts {
  std::mutex mutex;
  std::map<std::uint64_t, Attempt> under_way;
  std::uint64_t last_ticket = 0;

  /// NCCL asks all the time, unless it has given up: that it tells nobody.
  void sweep(Clock::time_point before) {
    std::erase_if(under_way, [&](const auto& entry) {
      return entry.second.meeting->over() && entry.second.asked < before;
    });
  }
};
Attempts& attempts() {
  static auto* all = new Attempts;
  return *all;
}

Result<std::shared_ptr<Meeting>> start(const Device& device, const Handle& handle, int traffic_class) {
  auto link = Sender::prepare(device, handle.qps, traffic_class);
  if (!link) return link.error();
  const int timeout = static_cast<int>(device.settings().connect_timeout_ms);
  return Meeting::start(*std::move(link),
                        [=](std::unique_ptr<Link>& l) { return meet(l, handle, traffic_class, timeout); });
}

}  // namespace

Result<std::unique_ptr<Sender>> dial(const Adapter& adapter, Handle& handle, int traffic_class) {
  if (auto good = check(handle); !good) return good.error();
  Attempts& all = attempts();
  const std::lock_guard lock(all.mutex);
  const auto now = Clock::now();
  auto attempt = all.under_way.find(handle.ticket);
  if (attempt == all.under_way.end()) {
    const std::chrono::milliseconds patience(adapter.lanes().front()->settings().connect_timeout_ms);
    all.sweep(now - patience);
    if (handle.ticket != 0) {
      return Error{ETIMEDOUT, "nobody asked for the connection to " + text_of(handle.addresses[0]) + " for " +
                                  std::to_string(patience.count()) + " ms (NCCL_OPENMRC_CONNECT_TIMEOUT_MS)"};
    }
    auto meeting = start(adapter.to_connect(), handle, traffic_class);
    if (!meeting) return meeting.error();
    handle.ticket = ++all.last_ticket;
    attempt = all.under_way.emplace(handle.ticket, Attempt{*std::move(meeting), now}).first;
  }
  attempt->second.asked = now;
  if (!attempt->second.meeting->over()) return std::unique_ptr<Sender>();
  auto link = attempt->second.meeting->outcome();
  all.under_way.erase(attempt);
  handle.ticket = 0;
  if (!link) return link.error();
  info("sends to " + (*link)->peer_name() + ", queue pairs " + std::to_string((*link)->qps()));
  return std::make_unique<Sender>(*std::move(link));
}

}  // namespace mrc::nccl
