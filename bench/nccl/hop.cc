// Steps of a collective, without a GPU: two processes post receives and sends and wait for both, through the
// plugin as NCCL does it, and over TCP as NCCL's own transport does it, in turns.
//
// nccl_hop [ROUNDS [BYTES [DEPTH [NETNS ADDRESS]]]]. DEPTH 1 is a conversation: nobody sends before it has
// received; with 8, as NCCL has it, so many steps are under way, and what counts is what a core spends on a
// byte. NCCL_OPENMRC_DEVICES names the ports; loopback without it. The second process lives in the network
// namespace NETNS (a path), where TCP reaches it at ADDRESS.
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
#include <deque>
#include <thread>
#include <vector>

#include "nccl/harness.h"

using namespace mrc::nccl;
using namespace mrc::nccl::testing;

namespace {

constexpr int kVersion = 11;
constexpr int kTag = 7;

struct Shape {
  std::size_t bytes = 8;
  std::size_t depth = 1;
  /// A send need not be over when the next step begins, but its memory must be free.
  std::size_t sends() const { return std::max<std::size_t>(depth, 2); }
  /// Of one round: enough to forget its beginning.
  std::size_t steps() const { return std::clamp<std::size_t>((256u << 20) / bytes, 100, 2000); }
};

/// Both ways to the other process.
struct Plugin {
  std::unique_ptr<Table> table;
  Ends ends;
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

/// Steps that have begun and are not over, oldest first; each has its part of the memory, as NCCL's have.
class Pending {
 public:
  Pending(Table& table, std::size_t bytes, std::size_t depth) : table_(table), bytes_(bytes), depth_(depth) {}
  std::size_t begun() const { return begun_; }
  std::size_t over() const { return begun_ - requests_.size(); }
  std::size_t place() const { return begun_ % depth_ * bytes_; }
  void add(void* request) {
    if (request != nullptr) ++begun_, requests_.push_back(request);
  }
  bool look() {
    int done = requests_.empty() ? 0 : 1;
    while (done != 0 && !requests_.empty()) {
      if (table_.test(requests_.front(), &done, nullptr) != kSuccess) return false;
      if (done != 0) requests_.pop_front();
    }
    return true;
  }

 private:
  Table& table_;
  std::size_t bytes_, depth_, begun_ = 0;
  std::deque<void*> requests_;
};

bool exchange(Plugin& plugin, Memory& from, Memory& to, const Shape& shape) {
  Table& t = *plugin.table;
  Pending in(t, shape.bytes, shape.depth), out(t, shape.bytes, shape.sends());
  const std::size_t steps = shape.steps();
  while (in.over() < steps || out.over() < steps) {
    void* request = nullptr;
    if (in.begun() < std::min(steps, in.over() + shape.depth)) {
      if (t.receive(plugin.ends.receiver, {to.buffer(in.place(), shape.bytes, kTag)}, &request) != kSuccess)
        return false;
      in.add(request);
    }
    const bool may_send = out.begun() < std::min(steps, in.over() + shape.depth);
    if (may_send && out.begun() < out.over() + shape.sends()) {
      if (t.send(plugin.ends.sender, from.buffer(out.place(), shape.bytes, kTag), &request) != kSuccess)
        return false;
      out.add(request);
    }
    if (!in.look() || !out.look()) return false;
  }
  return true;
}

/// As NCCL's sockets: neither end ever waits in the kernel.
bool exchange(int tcp, std::vector<char>& from, std::vector<char>& to, const Shape& shape) {
  const std::size_t all = shape.steps() * shape.bytes, room = shape.depth * shape.bytes;
  std::size_t sent = 0, received = 0;
  const auto moved = [](ssize_t n, std::size_t& count) {
    count += static_cast<std::size_t>(std::max<ssize_t>(n, 0));
    return n > 0 || (n < 0 && errno == EAGAIN);
  };
  // One message at a time, as NCCL's socket transport does.
  const auto rest_of_step = [&](std::size_t at) { return shape.bytes - at % shape.bytes; };
  while (sent < all || received < all) {
    if (sent < std::min(all, received / shape.bytes * shape.bytes + room) &&
        !moved(::send(tcp, from.data() + sent % room, rest_of_step(sent), MSG_DONTWAIT), sent))
      return false;
    if (received < all &&
        !moved(::recv(tcp, to.data() + received % room, rest_of_step(received), MSG_DONTWAIT), received))
      return false;
  }
  return true;
}

double microseconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - then).count();
}

/// Of a step, in a round; negative: it failed.
template <class Exchange>
double microseconds_each(const Shape& shape, Exchange&& exchange) {
  const auto began = std::chrono::steady_clock::now();
  return exchange() ? microseconds_since(began) / static_cast<double>(shape.steps()) : -1;
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

int run(bool first, int rounds, const Shape& shape, int channel, int tcp) {
  Plugin plugin;
  if (!meet(plugin, channel))
    return std::fprintf(stderr, "nccl_hop: no connection: %s", logged_warnings().c_str()), 1;
  const std::size_t all = shape.bytes * shape.sends();
  Memory from(*plugin.table, plugin.ends.sender, all, 1), to(*plugin.table, plugin.ends.receiver, all, 2);
  std::vector<char> tcp_from(all), tcp_to(all);
  std::vector<double> ours, theirs;
  for (int i = 0; i < rounds; ++i) {
    theirs.push_back(microseconds_each(shape, [&] { return exchange(tcp, tcp_from, tcp_to, shape); }));
    ours.push_back(microseconds_each(shape, [&] { return exchange(plugin, from, to, shape); }));
    if (ours.back() < 0 || theirs.back() < 0)
      return std::fprintf(stderr, "nccl_hop: %s", logged_warnings().c_str()), 1;
  }
  char over = 0;  // for both: who leaves first answers nothing any more
  if (::write(channel, &over, 1) != 1 || ::read(channel, &over, 1) != 1) return fail("the other process");
  std::sort(ours.begin(), ours.end()), std::sort(theirs.begin(), theirs.end());
  const double mine = ours[ours.size() / 2], tcps = theirs[theirs.size() / 2];
  if (first)
    std::printf(
        "%zu bytes, %zu at a time: plugin %.1f us (%.1f - %.1f), TCP %.1f us (%.1f - %.1f), ratio %.2f\n",
        shape.bytes, shape.depth, mine, ours.front(), ours.back(), tcps, theirs.front(), theirs.back(),
        mine / tcps);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 5;
  Shape shape;
  if (count > 2) shape.bytes = std::strtoul(arguments[2], nullptr, 10);
  if (count > 3) shape.depth = std::strtoul(arguments[3], nullptr, 10);
  const char* address = count > 5 ? arguments[5] : "127.0.0.1";
  int channel[2];
  if (rounds < 1 || shape.bytes < 1 || shape.depth < 1 || shape.depth > 32 || count == 5 ||
      ::socketpair(AF_UNIX, SOCK_STREAM, 0, channel) != 0)
    return 2;
  ::setenv("NCCL_OPENMRC_QPS", "1", 0);
  ::setenv("NCCL_OPENMRC_THREADS", "1", 0);
  ::setenv("NCCL_OPENMRC_LONG_BYTES", std::thread::hardware_concurrency() < 8 ? "0" : "32768", 0);
  ::setenv("NCCL_OPENMRC_TIMEOUT_MS", "10000", 0);
  if (::fork() != 0) return run(true, rounds, shape, channel[0], tcp_connect(channel[0], address));
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (count > 5) enter(arguments[4]);
  return run(false, rounds, shape, channel[1], tcp_accept(channel[1]));
}
