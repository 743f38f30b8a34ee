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

#include "nccl/log.h"
#include "nccl/meeting.h"

namespace mrc::nccl {
namespace {

constexpr int kFirstTryMs = 100, kLongestTryMs = 2'000;

/// Does anybody answer there within this time? Only asked where there are other addresses to turn to.
bool answers(const IpAddress& address, std::uint16_t port, int timeout_ms) {
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_port = htons(port);
  std::memcpy(&to.sin6_addr, address.data(), address.size());
  const int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  int error = ::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd p{fd, POLLOUT, 0};
    socklen_t size = sizeof error;
    if (::poll(&p, 1, timeout_ms) <= 0 || ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
      error = ETIMEDOUT;
  }
  ::close(fd);
  return error == 0;
}

/// The first plane that works; the first of all when none seems to.
const IpAddress& choose(const Handle& handle, int timeout_ms) {
  for (int wait = kFirstTryMs; handle.count > 1 && wait <= std::min(kLongestTryMs, timeout_ms); wait *= 4) {
    for (int i = 0; i < handle.count; ++i) {
      const IpAddress& address = handle.addresses[static_cast<std::size_t>(i)];
      if (answers(address, handle.tcp_port, wait)) return address;
    }
  }
  return handle.addresses[0];
}

/// All attempts of this process.
struct Attempts {
  std::mutex mutex;
  std::map<std::uint64_t, std::shared_ptr<Meeting>> under_way;
  std::uint64_t last_ticket = 0;
};
Attempts& attempts() {
  static auto* all = new Attempts;
  return *all;
}

Result<std::shared_ptr<Meeting>> start(const Device& device, const Handle& handle, int traffic_class) {
  auto link = Sender::prepare(device, handle.qps, traffic_class);
  if (!link) return link.error();
  const Introduction ours = Sender::introduce(**link, handle.cookie);
  const int timeout = static_cast<int>(device.settings().connect_timeout_ms);
  return Meeting::start(*std::move(link), [handle, ours, timeout](Link& l) {
    return l.connect(text_of(choose(handle, timeout)), handle.tcp_port, ours, timeout);
  });
}

}  // namespace

Result<std::unique_ptr<Sender>> dial(const Adapter& adapter, Handle& handle, int traffic_class) {
  if (auto good = check(handle); !good) return good.error();
  Attempts& all = attempts();
  const std::lock_guard lock(all.mutex);
  auto attempt = all.under_way.find(handle.ticket);
  if (attempt == all.under_way.end()) {
    auto meeting = start(adapter.to_connect(), handle, traffic_class);
    if (!meeting) return meeting.error();
    handle.ticket = ++all.last_ticket;
    attempt = all.under_way.emplace(handle.ticket, *std::move(meeting)).first;
  }
  if (!attempt->second->over()) return std::unique_ptr<Sender>();
  auto link = attempt->second->outcome();
  all.under_way.erase(attempt);
  handle.ticket = 0;
  if (!link) return link.error();
  info("sends to " + (*link)->peer_name() + " on " + std::to_string((*link)->qps()) + " queue pairs");
  return std::make_unique<Sender>(*std::move(link));
}

}  // namespace mrc::nccl
