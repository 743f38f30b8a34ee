#include "lib/connect_socket.h"

#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "lib/progress.h"
#include "port/address.h"
#include "wire/bytes.h"

namespace mrc::lib::connect {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

/// getaddrinfo() takes 65537 for 1.
bool is_no_port(const std::string& service) {
  constexpr std::size_t kDigits = 5;
  const bool number = !service.empty() && service.find_first_not_of("0123456789") == std::string::npos;
  return number && (service.size() > kDigits || std::stoi(service) > UINT16_MAX);
}

Result<Addresses> resolve(const char* host, const char* service, bool passive) {
  if (is_no_port(service))
    return Error{EINVAL, std::string("there is no TCP port ") + service + ": 0 to 65535"};
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  // An address that is written out is meant. AI_ADDRCONFIG is for names: it would not know 127.0.0.1 on a
  // host whose other addresses are all IPv6.
  hints.ai_flags = (passive ? AI_PASSIVE : 0) | AI_NUMERICHOST;
  if (::getaddrinfo(host, service, &hints, &found) == 0) return Addresses(found, &::freeaddrinfo);
  hints.ai_flags = (passive ? AI_PASSIVE : 0) | AI_ADDRCONFIG;
  if (const int error = ::getaddrinfo(host, service, &hints, &found); error != 0) {
    return Error{EHOSTUNREACH, std::string(host) + " port " + service + ": " + ::gai_strerror(error)};
  }
  return Addresses(found, &::freeaddrinfo);
}

int remaining_ms(Time deadline) {
  if (deadline == kNever) return -1;
  const Duration left = deadline - steady_now();
  return left <= 0ns ? 0 : static_cast<int>(std::min<std::int64_t>((left + 999us) / 1ms, 1'000'000));
}

/// Waits until the socket can do `what`. ETIMEDOUT.
Status wait_for(int socket, short what, Time deadline) {
  while (true) {
    pollfd fd{socket, what, 0};
    const int n = ::poll(&fd, 1, remaining_ms(deadline));
    if (n > 0) return Done{};
    if (n == 0 && steady_now() >= deadline) return Error{ETIMEDOUT, "the peer did not answer in time"};
    if (n < 0 && errno != EINTR) return port::errno_error("wait for the peer");
  }
}

void set_option(int socket, int level, int option, int value) {
  ::setsockopt(socket, level, option, &value, sizeof value);
}

/// Why nothing can be sent or received any more.
Error gone(int why) {
  if (why != ETIMEDOUT && why != EHOSTUNREACH && why != ENETUNREACH)
    return {ECONNRESET, "the peer closed the connection or died"};
  return {EHOSTDOWN, "nothing comes back from the peer any more: the way to it has died"};
}

void make_prompt(int socket) { set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1); }

Result<port::Fd> try_connect(const addrinfo& to, Time deadline) {
  port::Fd fd(::socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return port::errno_error("open a TCP socket");
  if (::connect(fd.get(), to.ai_addr, to.ai_addrlen) < 0) {
    if (errno != EINPROGRESS) return port::errno_error("connect");
    if (auto ready = wait_for(fd.get(), POLLOUT, deadline); !ready) return ready.error();
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return port::errno_error("connect", error);
  }
  make_prompt(fd.get());
  return fd;
}

Status receive_bytes(int socket, std::uint8_t* out, std::size_t size, Time deadline) {
  while (size > 0) {
    const ssize_t n = ::recv(socket, out, size, 0);
    if (n == 0) return gone(0);
    if (n > 0) {
      out += n;
      size -= static_cast<std::size_t>(n);
    } else if (errno == EAGAIN) {
      if (auto ready = wait_for(socket, POLLIN, deadline); !ready) return ready.error();
    } else if (errno != EINTR) {
      return gone(errno);
    }
  }
  return Done{};
}

}  // namespace

void watch_way(int socket, bool watched) {
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, watched ? static_cast<int>(kWayTimeout / 1ms) : 0);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, watched);
}

Time deadline_after(int timeout_ms) { return timeout_ms < 0 ? kNever : steady_now() + timeout_ms * 1ms; }

Result<port::Fd> listen_tcp(const char* host, const char* service) {
  if (host == nullptr) {  // one of IPv6 hears both families; where there is no IPv6, one of IPv4 does
    auto all = listen_tcp("::", service);
    return all ? std::move(all) : listen_tcp("0.0.0.0", service);
  }
  const auto addresses = resolve(host, service, true);
  if (!addresses) return addresses.error();
  Error last{EADDRNOTAVAIL, "no address to listen at"};
  for (const addrinfo* a = addresses->get(); a != nullptr; a = a->ai_next) {
    port::Fd fd(::socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) {
      last = port::errno_error("open a TCP socket");
      continue;
    }
    set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    if (a->ai_family == AF_INET6) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (::bind(fd.get(), a->ai_addr, a->ai_addrlen) == 0 && ::listen(fd.get(), 64) == 0) return fd;
    last = port::errno_error("listen at " + std::string(host) + " TCP port " + service);
  }
  return last;
}

Result<port::Fd> connect_tcp(const char* host, const char* service, Time deadline) {
  constexpr int kRetryMs = 20;
  const auto addresses = resolve(host, service, false);
  if (!addresses) return addresses.error();
  while (true) {
    Error last{EHOSTUNREACH, "no address"};
    for (const addrinfo* a = addresses->get(); a != nullptr; a = a->ai_next) {
      auto fd = try_connect(*a, deadline);
      if (fd) return fd;
      last = fd.error();
    }
    const bool nobody = last.code == ECONNREFUSED || last.code == ENETUNREACH || last.code == EHOSTUNREACH;
    if (!nobody || steady_now() >= deadline) {
      return Error{last.code, std::string("no connection to ") + host + " port " + service + ": " +
                                  last.what + (nobody ? " (does the peer listen there?)" : "")};
    }
    ::poll(nullptr, 0, std::clamp(remaining_ms(deadline), 0, kRetryMs));
  }
}

Result<port::Fd> accept_tcp(int listener, Time deadline) {
  while (true) {
    port::Fd fd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd) {
      make_prompt(fd.get());
      return fd;
    }
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
      return port::errno_error("accept a connection");
    if (auto ready = wait_for(listener, POLLIN, deadline); !ready) {
      return Error{ready.error().code, "nobody connected in time"};
    }
  }
}

Result<port::Fd> accept_speaker(int listener, Time deadline, Duration silence) {
  while (true) {
    auto caller = accept_tcp(listener, deadline);
    if (!caller) return caller;
    const Time patience = std::min(deadline, steady_now() + silence);
    const auto speaks = wait_for(caller->get(), POLLIN, patience);
    if (speaks) return caller;
    if (speaks.error().code != ETIMEDOUT || patience == deadline) return speaks.error();
  }
}

int local_port(int socket) {
  sockaddr_storage where{};
  socklen_t size = sizeof where;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&where), &size);
  return ntohs(where.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(where).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(where).sin_port);
}

std::string peer_name(int socket) {
  sockaddr_storage who{};
  socklen_t size = sizeof who;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&who), &size) != 0) return "the peer";
  return port::to_string(port::from_socket_address(reinterpret_cast<const sockaddr&>(who)));
}

Status send_message(int socket, const Message& message, Time deadline) {
  std::vector<std::uint8_t> bytes(4);
  wire::store32(bytes.data(), static_cast<std::uint32_t>(message.size()));
  bytes.insert(bytes.end(), message.begin(), message.end());
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::send(socket, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (n > 0) {
      at += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN) {
      if (auto ready = wait_for(socket, POLLOUT, deadline); !ready) return ready;
    } else if (errno != EINTR) {
      return gone(errno);
    }
  }
  return Done{};
}

Result<Message> receive_message(int socket, Time deadline) {
  std::uint8_t length[4];
  if (auto got = receive_bytes(socket, length, sizeof length, deadline); !got) return got.error();
  const std::uint32_t size = wire::load32(length);
  if (size < 1 || size > kMaxMessage) {
    return Error{EPROTO, "the peer's message has an impossible length: is it another program at that port?"};
  }
  Message message(size);
  if (auto got = receive_bytes(socket, message.data(), size, deadline); !got) return got.error();
  return message;
}

}  // namespace mrc::lib::connect
