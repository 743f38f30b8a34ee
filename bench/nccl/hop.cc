// One step of a small collective, without a GPU: two processes post a receive and a send and wait for both,
// through the plugin as NCCL does it, and over TCP as NCCL's own transport does it, in turns.
//
// nccl_hop [ROUNDS [BYTES]]. NCCL_OPENMRC_DEVICES names the ports; loopback without it.
#include <netinet/in.h>
#include <netinet/tcp.h>
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

template <class Exchange>
double microseconds_each(Exchange&& exchange) {
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < kExchanges; ++i) {
    if (!exchange()) return -1;
  }
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count() /
         kExchanges;
}

void tcp_pair(int (&ends)[2]) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  const int one = 1;
  ends[0] = ::socket(AF_INET, SOCK_STREAM, 0);
  const bool made = ::bind(listener, reinterpret_cast<sockaddr*>(&at), size) == 0 &&
                    ::listen(listener, 1) == 0 &&
                    ::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size) == 0 &&
                    ::connect(ends[0], reinterpret_cast<sockaddr*>(&at), size) == 0;
  ends[1] = ::accept(listener, nullptr, nullptr);
  ::close(listener);
  if (!made || ends[1] < 0) std::perror("tcp"), std::exit(1);
  for (int fd : ends) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

int run(bool first, int rounds, std::size_t bytes, int channel, int tcp) {
  Plugin plugin;
  if (!meet(plugin, channel))
    return std::fprintf(stderr, "nccl_hop: no connection: %s", logged_warnings().c_str()), 1;
  Memory from(*plugin.table, plugin.ends.sender, bytes, 1), to(*plugin.table, plugin.ends.receiver, bytes, 2);
  std::vector<char> tcp_from(bytes), tcp_to(bytes);
  std::vector<double> ours, theirs;
  for (int i = 0; i < rounds; ++i) {
    theirs.push_back(microseconds_each([&] { return exchange(tcp, tcp_from, tcp_to); }));
    ours.push_back(microseconds_each([&] { return exchange(plugin, from, to, bytes); }));
    if (ours.back() < 0 || theirs.back() < 0)
      return std::fprintf(stderr, "nccl_hop: %s", logged_warnings().c_str()), 1;
  }
  if (wait_for(*plugin.table, plugin.unanswered, nullptr) != kSuccess) return 1;
  std::sort(ours.begin(), ours.end()), std::sort(theirs.begin(), theirs.end());
  const double mine = ours[ours.size() / 2], tcps = theirs[theirs.size() / 2];
  if (first)
    std::printf("%zu bytes: plugin %.1f us (%.1f - %.1f), TCP %.1f us, ratio %.2f\n", bytes, mine,
                ours.front(), ours.back(), tcps, mine / tcps);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 5;
  const std::size_t bytes = count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 8;
  int channel[2], tcp[2];
  if (rounds < 1 || bytes < 1 || ::socketpair(AF_UNIX, SOCK_STREAM, 0, channel) != 0) return 2;
  tcp_pair(tcp);
  ::setenv("NCCL_OPENMRC_QPS", "1", 0);
  ::setenv("NCCL_OPENMRC_THREADS", "1", 0);
  ::setenv("NCCL_OPENMRC_LONG_BYTES", std::thread::hardware_concurrency() < 8 ? "0" : "16384", 0);
  ::setenv("NCCL_OPENMRC_TIMEOUT_MS", "10000", 0);
  const bool child = ::fork() == 0;
  if (child) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return run(!child, rounds, bytes, channel[child], tcp[child]);
}
