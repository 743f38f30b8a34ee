#include "port/testing.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>

#include <cstdio>
#include <string>

#include "port/link_watch.h"

namespace mrc::port::testing {
namespace {

Status write_file(const char* path, const std::string& text) {
  Fd file(::open(path, O_WRONLY | O_CLOEXEC));
  if (!file || ::write(file.get(), text.data(), text.size()) < 0) return errno_error(path);
  return Done{};
}

/// A user namespace in which we are root: what an ordinary user needs to make network namespaces.
Status become_root_of_own() {
  const unsigned uid = ::getuid(), gid = ::getgid();
  if (::unshare(CLONE_NEWUSER) < 0) return errno_error("make a user namespace (the kernel forbids it here)");
  if (auto denied = write_file("/proc/self/setgroups", "deny"); !denied) return denied;
  if (auto mapped = write_file("/proc/self/uid_map", "0 " + std::to_string(uid) + " 1"); !mapped)
    return mapped;
  return write_file("/proc/self/gid_map", "0 " + std::to_string(gid) + " 1");
}

Fd current_namespace() { return Fd(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)); }

Result<Fd> make_namespace() {
  if (::unshare(CLONE_NEWNET) < 0) return errno_error("make a network namespace");
  Fd fd = current_namespace();
  if (!fd) return errno_error("open the network namespace");
  return fd;
}

Status shell(const std::string& command) {
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "re");
  if (pipe == nullptr) return errno_error(command);
  std::string said;
  char chunk[256];
  while (std::fgets(chunk, sizeof chunk, pipe) != nullptr) said += chunk;
  const int status = ::pclose(pipe);
  if (status != 0) return Error{EIO, command + ": " + said};
  return Done{};
}

/// Until then the interface drops what it is given without a word.
Status await_up(const char* name) {
  const auto index = interface_named(name);
  if (!index) return index.error();
  auto watch = LinkWatch::open(*index);
  if (!watch) return watch.error();
  for (int i = 0; i < 30 && !watch->settled(); ++i) {
    pollfd ready{watch->fd(), POLLIN, 0};
    ::poll(&ready, 1, 100);
    watch->update();
  }
  if (!watch->settled()) return Error{ENETDOWN, std::string(name) + " doesn't come up"};
  return Done{};
}

Fd udp_socket(const char* address, std::uint16_t udp_port) {
  const SocketAddress name = to_socket_address(*parse_address(address), udp_port);
  Fd fd(::socket(name.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  MRC_CHECK(::bind(fd.get(), &name.any, name.size) == 0);
  return fd;
}

std::string path_of(const Fd& ns) {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(ns.get());
}

}  // namespace

Result<std::unique_ptr<Sandbox>> Sandbox::make(unsigned mtu) {
  std::unique_ptr<Sandbox> sandbox(new Sandbox);
  sandbox->mtu_ = mtu;
  sandbox->home_ = current_namespace();
  auto left = make_namespace();
  if (!left && left.error().code == EPERM) {
    if (auto root = become_root_of_own(); !root) return root.error();
    left = make_namespace();
  }
  if (!left) return left.error();
  sandbox->left_ = std::move(*left);
  auto right = make_namespace();
  if (!right) return right.error();
  sandbox->right_ = std::move(*right);
  if (auto built = sandbox->build(77); !built) return built.error();
  // An ordinary user can't go back to a namespace of the host: stay in the right one.
  ::setns(sandbox->home_.get(), CLONE_NEWNET);
  return sandbox;
}

Status Sandbox::remake() { return build(78); }

Status Sandbox::build(unsigned index) {
  const std::string size = std::to_string(mtu_);
  // Unequal indices at both ends: the kernel holds back "carrier up" for a second when they are equal.
  // Neighbours are written down: a lost solicitation would cost a second too.
  const std::string left_commands[] = {
      "ip link add l0 address 02:00:00:00:77:01 index " + std::to_string(index) + " mtu " + size +
          " type veth peer name r0 address 02:00:00:00:77:02 mtu " + size + " netns " + path_of(right_),
      "ip link set lo up",
      "ip addr add 10.77.0.1/24 dev l0",
      "ip addr add fd77::1/64 dev l0 nodad",
      "ip link set l0 up",
      "ip neigh replace 10.77.0.2 lladdr 02:00:00:00:77:02 dev l0",
      "ip neigh replace fd77::2 lladdr 02:00:00:00:77:02 dev l0"};
  const std::string right_commands[] = {"ip link set lo up",
                                        "ip addr add 10.77.0.2/24 dev r0",
                                        "ip addr add fd77::2/64 dev r0 nodad",
                                        "ip link set r0 up",
                                        "ip neigh replace 10.77.0.1 lladdr 02:00:00:00:77:01 dev r0",
                                        "ip neigh replace fd77::1 lladdr 02:00:00:00:77:01 dev r0"};
  for (const std::string& command : left_commands)
    if (auto done = left_shell(command); !done) return done;
  for (const std::string& command : right_commands)
    if (auto done = right_shell(command); !done) return done;
  Status up = Done{};
  left([&] { up = await_up("l0"); });
  if (up) right([&] { up = await_up("r0"); });
  if (up) up = await_traffic("10.77.0.1", "10.77.0.2");
  if (up) up = await_traffic("fd77::1", "fd77::2");
  return up;
}

/// The kernel sets up an IPv6 address some time after it was added, and tells nobody when: so try until a
/// packet gets through, each way.
Status Sandbox::await_traffic(const char* left_address, const char* right_address) const {
  constexpr std::uint16_t kPort = 9077;
  Fd ends[2];
  left([&] { ends[0] = udp_socket(left_address, kPort); });
  right([&] { ends[1] = udp_socket(right_address, kPort); });
  for (const int from : {0, 1}) {
    const SocketAddress to =
        to_socket_address(*parse_address(from == 0 ? right_address : left_address), kPort);
    pollfd ready{ends[1 - from].get(), POLLIN, 0};
    for (int i = 0; i < 300 && ready.revents == 0; ++i) {
      ::sendto(ends[from].get(), "?", 1, MSG_DONTWAIT, &to.any, to.size);
      ::poll(&ready, 1, 10);
    }
    if (ready.revents == 0) return Error{ENETDOWN, std::string("no packet reaches ") + right_address};
  }
  return Done{};
}

Sandbox::~Sandbox() { ::setns(home_.get(), CLONE_NEWNET); }

void Sandbox::inside(const Fd& where, const std::function<void()>& work) const {
  const Fd before = current_namespace();
  MRC_CHECK(::setns(where.get(), CLONE_NEWNET) == 0);
  work();
  ::setns(before.get(), CLONE_NEWNET);
}

void Sandbox::stay_left() const { MRC_CHECK(::setns(left_.get(), CLONE_NEWNET) == 0); }

Status Sandbox::left_shell(const std::string& command) const {
  Status done = Done{};
  left([&] { done = shell(command); });
  return done;
}

Status Sandbox::right_shell(const std::string& command) const {
  Status done = Done{};
  right([&] { done = shell(command); });
  return done;
}

}  // namespace mrc::port::testing
