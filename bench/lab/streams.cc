#include "streams.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "port/fd.h"
#include "tools/real_time.h"

namespace mrc::bench {
namespace {

constexpr std::uint16_t kPort = 7000;
constexpr int kMptcp = 262;  // IPPROTO_MPTCP

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

/// A child that stands on the node and dies with us; what `act` returns is its exit status.
pid_t fork_on(lab::Lab& lab, const std::string& node, const std::function<int()>& act) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  tools::go_first();  // as our own transfers do
  ::_exit(lab.enter(node) ? act() : 99);
}

int run_on(lab::Lab& lab, const std::string& node, const std::function<int()>& act) {
  int status = 0;
  const pid_t child = fork_on(lab, node, act);
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

sockaddr_in6 address(const topo::Topology& topo, std::uint32_t host, std::uint32_t plane) {
  sockaddr_in6 at{};
  at.sin6_family = AF_INET6;
  at.sin6_port = htons(kPort);
  const Ipv6 ip = topo.address(topo::HostId(host), plane);
  std::copy(ip.bytes.begin(), ip.bytes.end(), at.sin6_addr.s6_addr);
  return at;
}

int open_socket(Protocol protocol) {
  return ::socket(AF_INET6, SOCK_STREAM, protocol == Protocol::mptcp ? kMptcp : IPPROTO_TCP);
}

/// The server names its other addresses; the client opens a subflow to each, which the routes put on its
/// plane.
int allow_subflows(const topo::Topology& topo, bool server) {
  std::string script = "ip mptcp endpoint flush && ip mptcp limits set subflow 7 add_addr_accepted 7";
  for (std::uint32_t p = 1; server && p < topo.planes(); ++p)
    script += " && ip mptcp endpoint add " + to_string(topo.address(topo::HostId(1), p)) + " dev p" +
              std::to_string(p) + " signal";
  return std::system(script.c_str());
}

int send_for_ever(const topo::Topology& topo, Protocol protocol) {
  const int fd = open_socket(protocol);
  const sockaddr_in6 to = address(topo, 1, 0);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return 1;
  const std::vector<char> buffer(256 * 1024);
  while (::send(fd, buffer.data(), buffer.size(), MSG_NOSIGNAL) > 0) continue;
  return 0;
}

}  // namespace

Result<Stream> Stream::start(lab::Lab& lab, const topo::Topology& topo, Protocol protocol) {
  Stream out;
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return port::errno_error("mmap");
  Shared* const shared = out.shared_ = new (memory) Shared{};
  int ready[2];
  if (::pipe(ready) != 0) return port::errno_error("pipe");
  if (protocol == Protocol::mptcp) {
    const bool allowed = run_on(lab, "h0", [&] { return allow_subflows(topo, false); }) == 0 &&
                         run_on(lab, "h1", [&] { return allow_subflows(topo, true); }) == 0;
    if (!allowed)
      return Error{EOPNOTSUPP, "ip mptcp refused: MPTCP needs a kernel and iproute2 that know it"};
  }
  out.processes_.push_back(fork_on(lab, "h1", [&] {
    const int listener = open_socket(protocol), on = 1;
    ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in6 at = address(topo, 1, 0);
    at.sin6_addr = in6addr_any;  // subflows come to the other planes' addresses
    if (::bind(listener, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
        ::listen(listener, 1) != 0)
      return 1;
    (void)!::write(ready[1], "", 1);
    const int fd = ::accept(listener, nullptr, nullptr);
    std::vector<char> buffer(1 << 20);
    shared->last_ns = now_ns();
    for (ssize_t n; (n = ::recv(fd, buffer.data(), buffer.size(), 0)) > 0;) {
      const std::int64_t now = now_ns();
      shared->longest_ns = std::max<std::int64_t>(shared->longest_ns, now - shared->last_ns);
      shared->last_ns = now;
      shared->bytes += static_cast<std::uint64_t>(n);
    }
    return 0;
  }));
  ::close(ready[1]);
  char word;
  const bool listens = ::read(ready[0], &word, 1) == 1;
  ::close(ready[0]);
  if (!listens) return Error{EIO, "the stream's receiver died"};
  out.processes_.push_back(fork_on(lab, "h0", [&] { return send_for_ever(topo, protocol); }));
  if (!out.wait_for_data(10)) return Error{EIO, "the stream does not move"};
  return out;
}

Stream::Stream(Stream&& other) noexcept
    : shared_(std::exchange(other.shared_, nullptr)), processes_(std::move(other.processes_)) {}

Stream::~Stream() {
  for (const pid_t child : processes_) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  if (shared_ != nullptr) ::munmap(shared_, sizeof(Shared));
}

double Stream::take_gap_ms() {
  const std::int64_t lasting = now_ns() - shared_->last_ns;
  return static_cast<double>(std::max(shared_->longest_ns.exchange(0), lasting)) / 1e6;
}

bool Stream::wait_for_data(double seconds) {
  const std::uint64_t before = bytes();
  for (const std::int64_t end = now_ns() + static_cast<std::int64_t>(seconds * 1e9); now_ns() < end;) {
    if (bytes() != before) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

std::uint32_t busiest_uplink(lab::Lab& lab, const topo::Topology& topo) {
  const topo::Node t0 = topo::switch_node(0, topo::Tier::t0, 0);
  const auto sent_by = [&](const std::string& interface) {
    std::ifstream file("/proc/thread-self/net/dev");
    for (std::string line; std::getline(file, line);) {
      if (line.find(" " + interface + ":") == std::string::npos) continue;
      std::istringstream numbers(line.substr(line.find(':') + 1));
      std::uint64_t value = 0;
      for (int column = 0; column < 9; ++column) numbers >> value;
      return value;
    }
    return std::uint64_t{0};
  };
  return static_cast<std::uint32_t>(std::max(0, run_on(lab, topo.name(t0), [&] {
                                               std::vector<std::uint64_t> before, sent;
                                               for (std::uint32_t u = 0; u < topo.spec().t1; ++u)
                                                 before.push_back(sent_by("u" + std::to_string(u)));
                                               std::this_thread::sleep_for(std::chrono::milliseconds(50));
                                               for (std::uint32_t u = 0; u < topo.spec().t1; ++u)
                                                 sent.push_back(sent_by("u" + std::to_string(u)) - before[u]);
                                               return static_cast<int>(
                                                   std::max_element(sent.begin(), sent.end()) - sent.begin());
                                             })));
}

}  // namespace mrc::bench
