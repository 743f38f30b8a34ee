// Sockets on the hosts of a lab, held by the test itself.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <optional>

#include "lab/channel.h"
#include "lab/lab.h"
#include "topo/topo.h"

namespace mrc::testing {

/// Starts a lab for a test, or skips the test where the machine refuses namespaces, and says so.
#define MRC_LAB_OR_SKIP(variable, topology, settings)                               \
  auto variable##_started = lab::Lab::start(topology, settings);                    \
  if (!variable##_started && lab::is_forbidden(variable##_started.error()))         \
    GTEST_SKIP() << "NOT TESTED, no lab here: " << variable##_started.error().what; \
  ASSERT_TRUE(variable##_started) << variable##_started.error().what;               \
  lab::Lab variable = *std::move(variable##_started)

/// Runs `act` in a child that stands on the node; what it returns is the child's exit status.
template <class Act>
int on_node(lab::Lab& lab, const std::string& node, Act act) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(lab.enter(node) ? act() : 99);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// A UDP socket that lives on the node, bound to a port.
inline lab::Fd udp_socket_on(lab::Lab& lab, const std::string& node, std::uint16_t port) {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const lab::Fd ours(ends[0]), theirs(ends[1]);
  const int status = on_node(lab, node, [&] {
    const lab::Fd fd(::socket(AF_INET6, SOCK_DGRAM, 0));
    sockaddr_in6 at{};
    at.sin6_family = AF_INET6;
    at.sin6_port = htons(port);
    if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) != 0) return 1;
    return lab::send_answer(theirs.get(), {}, {fd.get()}) ? 0 : 2;
  });
  EXPECT_EQ(status, 0);
  auto answer = lab::receive_answer(ours.get());
  return answer && !answer->descriptors.empty() ? std::move(answer->descriptors[0]) : lab::Fd();
}

inline bool send_to(int fd, const Ipv6& to, std::uint16_t port, char what) {
  sockaddr_in6 at{};
  at.sin6_family = AF_INET6;
  at.sin6_port = htons(port);
  std::copy(to.bytes.begin(), to.bytes.end(), at.sin6_addr.s6_addr);
  return ::sendto(fd, &what, 1, 0, reinterpret_cast<sockaddr*>(&at), sizeof at) == 1;
}

/// Waits for a datagram, not longer than a broken test deserves.
inline std::optional<char> receive(int fd, int flags = 0) {
  timeval patience{10, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  char what = 0;
  return ::recv(fd, &what, 1, flags) == 1 ? std::optional(what) : std::nullopt;
}

/// Frames sent one after the other from one processor arrive in that order, on whatever path.
inline void stay_on_this_processor() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(std::max(::sched_getcpu(), 0)), &one);
  ::sched_setaffinity(0, sizeof one, &one);
}

}  // namespace mrc::testing
