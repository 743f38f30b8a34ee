// One step of a small collective, without a GPU: two processes post a receive and a send and wait for both,
// through the plugin as NCCL does it, and over TCP as NCCL's own transport does it, in turns.
//
// nccl_hop [ROUNDS [BYTES [NETNS ADDRESS]]]. NCCL_OPENMRC_DEVICES names the ports; loopback without it. The
// second process lives in the network namespace NETNS (a path), where TCP reaches it at ADDRESS.
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "nccl/harness.h"

using namespace mrc::nccl;
using namespace mrc::nccl::testing;

namespace {

constexpr int kVersion = 11;
constexpr int kExchanges = 2000;  // of one round
constexpr int kTag = 7;

/// Both ways to the other process.
struct Plugin {
  std::unique_ptr<Table> table;
  Ends ends;
  void* unanswered = nullptr;  // the last send
};

bool meet(Plugin& plugin, int channel) {
  plugin.table = start_plugin(kVersion);
  HandleBytes ours, theirs;
  if (plugin.table == nullptr || plugin.table->listen(ours.data(), &plugin.ends.listener) != kSuccess)
    return false;
  if (::write(channel, ours.data(), ours.size()) != static_cast<ssize_t>(ours.size())) return false;
  if (::recv(channel, theirs.data(), theirs.size(), MSG_WAITALL) != static_cast<ssize_t>(theirs.size()))
    return false;
  Ends& e = plugin.ends;
  bool failed = false;
  return drive([&] {
           if (e.sender == nullptr) failed |= plugin.table->connect(theirs.data(), &e.sender) != kSuccess;
           if (e.receiver == nullptr) failed |= plugin.table->accept(e.listener, &e.receiver) != kSuccess;
           return failed || (e.sender != nullptr && e.receiver != nullptr);
         }) &&
         !failed;
}

/// A send need not be over when the next step begins: as in NCCL, whose steps have their own buffers.
bool exchange(Plugin& plugin, Memory& from, Memory& to, std::size_t bytes) {
  Table& t = *plugin.table;
  void *in = nullptr, *out = nullptr;
  if (plugin.unanswered != nullptr && wait_for(t, plugin.unanswered, nullptr) != kSuccess) return false;
  if (t.receive(plugin.ends.receiver, {to.buffer(0, bytes, kTag)}, &in) != kSuccess || in == nullptr)
    return false;
  for (int received = 0; out == nullptr || received == 0;) {
    if (out == nullptr && t.send(plugin.ends.sender, from.buffer(0, bytes, kTag), &out) != kSuccess)
      return false;
    if (received == 0 && t.test(in, &received, nullptr) != kSuccess) return false;
  }
  plugin.unanswered = out;
  return true;
}

/// As NCCL's sockets: neither end ever waits in the kernel.
bool exchange(int tcp, std::vector<char>& from, std::vector<char>& to) {
  if (::send(tcp, from.data(), from.size(), 0) != static_cast<ssize_t>(from.size())) return false;
  for (std::size_t have = 0; have < to.size();) {
    const ssize_t n = ::recv(tcp, to.data() + have, to.size() - have, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN)) return false;
    have += static_cast<std::size_t>(std::max<ssize_t>(n, 0));
  }
  return true;
}

double microseconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - then).count();
}

/// The mean of a round; `longest` of all of them.
template <class Exchange>
double microseconds_each(Exchange&& exchange, double& longest) {
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < kExchanges; ++i) {
    const auto then = std::chrono::steady_clock::now();
    if (!exchange()) return -1;
    longest = std::max(longest, microseconds_since(then));
  }
  return microseconds_since(began) / kExchanges;
}

int fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

int without_delay(int fd) {
  const int one = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return fd;
}

int tcp_accept(int channel) {
  const int listener = ::socket(AF_INET6, SOCK_STREAM, 0);
  sockaddr_in6 at{};
  at.sin6_family = AF_INET6;  // any address, IPv4 ones as well
  socklen_t size = sizeof at;
  const bool listens = ::bind(listener, reinterpret_cast<sockaddr*>(&at), size) == 0 &&
                       ::listen(listener, 1) == 0 &&
                       ::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size) == 0;
  if (!listens || ::write(channel, &at.sin6_port, 2) != 2) return fail("listen");
  const int fd = ::accept(listener, nullptr, nullptr);
  ::close(listener);
  return fd < 0 ? fail("accept") : without_delay(fd);
}

int tcp_connect(int channel, const char* address) {
  std::uint16_t port = 0;
  if (::recv(channel, &port, 2, MSG_WAITALL) != 2) return fail("the other process");
  addrinfo* at = nullptr;
  const addrinfo wanted{.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
  if (::getaddrinfo(address, std::to_string(ntohs(port)).c_str(), &wanted, &at) != 0) return fail(address);
  const int fd = ::socket(at->ai_family, SOCK_STREAM, 0);
  if (::connect(fd, at->ai_addr, at->ai_addrlen) != 0) return fail("connect");
  ::freeaddrinfo(at);
  return without_delay(fd);
}

void enter(const char* namespace_path) {
  const int fd = ::open(namespace_path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || ::setns(fd, CLONE_NEWNET) != 0) fail(namespace_path);
  ::close(fd);
}

int run(bool first, int rounds, std::size_t bytes, int channel, int tcp) {
  Plugin plugin;
  if (!meet(plugin, channel))
    return std::fprintf(stderr, "nccl_hop: no connection: %s", logged_warnings().c_str()), 1;
  Memory from(*plugin.table, plugin.ends.sender, bytes, 1), to(*plugin.table, plugin.ends.receiver, bytes, 2);
  std::vector<char> tcp_from(bytes), tcp_to(bytes);
  std::vector<double> ours, theirs;
  double longest = 0, longest_tcp = 0;
  for (int i = 0; i < rounds; ++i) {
    theirs.push_back(microseconds_each([&] { return exchange(tcp, tcp_from, tcp_to); }, longest_tcp));
    ours.push_back(microseconds_each([&] { return exchange(plugin, from, to, bytes); }, longest));
    if (i == 0) longest = longest_tcp = 0;  // paths are opened at their first use
    if (ours.back() < 0 || theirs.back() < 0)
      return std::fprintf(stderr, "nccl_hop: %s", logged_warnings().c_str()), 1;
  }
  char over = 0;  // for both: who leaves first answers nothing any more
  if (wait_for(*plugin.table, plugin.unanswered, nullptr) != kSuccess || ::write(channel, &over, 1) != 1 ||
      ::read(channel, &over, 1) != 1)
    return std::fprintf(stderr, "nccl_hop: the last send: %s", logged_warnings().c_str()), 1;
  std::sort(ours.begin(), ours.end()), std::sort(theirs.begin(), theirs.end());
  const double mine = ours[ours.size() / 2], tcps = theirs[theirs.size() / 2];
  if (first)
    std::printf(
        "%zu bytes: plugin %.1f us (%.1f - %.1f), TCP %.1f us, ratio %.2f; longest %.0f and %.0f us\n", bytes,
        mine, ours.front(), ours.back(), tcps, mine / tcps, longest, longest_tcp);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 5;
  const std::size_t bytes = count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 8;
  const char* address = count > 4 ? arguments[4] : "127.0.0.1";
  int channel[2];
  if (rounds < 1 || bytes < 1 || count == 4 || ::socketpair(AF_UNIX, SOCK_STREAM, 0, channel) != 0) return 2;
  ::setenv("NCCL_OPENMRC_QPS", "1", 0);
  ::setenv("NCCL_OPENMRC_THREADS", "1", 0);
  ::setenv("NCCL_OPENMRC_LONG_BYTES", std::thread::hardware_concurrency() < 8 ? "0" : "32768", 0);
  ::setenv("NCCL_OPENMRC_TIMEOUT_MS", "10000", 0);
  if (::fork() != 0) return run(true, rounds, bytes, channel[0], tcp_connect(channel[0], address));
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (count > 4) enter(arguments[3]);
  return run(false, rounds, bytes, channel[1], tcp_accept(channel[1]));
}
