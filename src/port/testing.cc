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
  for (int i = 0; i < 30 && !watch->link().up; ++i) {
    pollfd ready{watch->fd(), POLLIN, 0};
    ::poll(&ready, 1, 100);
    watch->update();
  }
  if (!watch->link().up) return Error{ENETDOWN, std::string(name) + " doesn't come up"};
  return Done{};
}

std::string path_of(const Fd& ns) {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(ns.get());
}

}  // namespace

Result<std::unique_ptr<Sandbox>> Sandbox::make(unsigned mtu) {
  std::unique_ptr<Sandbox> sandbox(new Sandbox);
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
  if (auto built = sandbox->build(mtu); !built) return built.error();
  // An ordinary user can't go back to a namespace of the host: stay in the right one.
  ::setns(sandbox->home_.get(), CLONE_NEWNET);
  return sandbox;
}

Status Sandbox::build(unsigned mtu) {
  const std::string size = std::to_string(mtu);
  for (const std::string& command :
       // Unequal indices at both ends: the kernel holds back "carrier up" for a second when they are equal.
       {"ip link add l0 index 77 mtu " + size + " type veth peer name r0 mtu " + size + " netns " +
            path_of(right_),
        std::string("ip link set lo up"), std::string("ip addr add 10.77.0.1/24 dev l0"),
        std::string("ip addr add fd77::1/64 dev l0 nodad"), std::string("ip link set l0 up")})
    if (auto done = left_shell(command); !done) return done;
  for (const char* command : {"ip link set lo up", "ip addr add 10.77.0.2/24 dev r0",
                              "ip addr add fd77::2/64 dev r0 nodad", "ip link set r0 up"})
    if (auto done = right_shell(command); !done) return done;
  Status up = Done{};
  left([&] { up = await_up("l0"); });
  if (up) right([&] { up = await_up("r0"); });
  return up;
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
