#include "lab/namespaces.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <sys/socket.h>

namespace mrc::lab {
namespace {

using port::errno_error;

constexpr const char* kForbidden =
    "this machine forbids user namespaces to this user; run as root, or allow them: "
    "sysctl user.max_user_namespaces=10000, and where they exist kernel.unprivileged_userns_clone=1, "
    "kernel.apparmor_restrict_unprivileged_userns=0; in a container, lift its seccomp filter";

Status write_file(const std::string& path, const std::string& text) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return errno_error("write " + text + " to " + path);
  return Done{};
}

Status map_ourselves_to_root(uid_t uid, gid_t gid) {
  const std::string users = "0 " + std::to_string(uid) + " 1", groups = "0 " + std::to_string(gid) + " 1";
  if (auto done = write_file("/proc/self/setgroups", "deny"); !done) return done;
  if (auto done = write_file("/proc/self/uid_map", users); !done) return done;
  return write_file("/proc/self/gid_map", groups);
}

}  // namespace

Status become_keeper() {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  if (uid == 0 && ::unshare(CLONE_NEWPID) == 0) return Done{};
  if (::unshare(CLONE_NEWUSER) != 0) return Error{EPERM, kForbidden};
  if (auto mapped = map_ourselves_to_root(uid, gid); !mapped) return Error{EPERM, kForbidden};
  if (::unshare(CLONE_NEWPID) != 0) return errno_error("make a PID namespace");
  return Done{};
}

Result<NetworkNamespace> make_network_namespace() {
  if (::unshare(CLONE_NEWNET) != 0)
    return Error{EPERM, "this machine forbids network namespaces: " + std::string(std::strerror(errno)) +
                            "; run as root, or raise user.max_net_namespaces"};
  NetworkNamespace made;
  made.space = Fd(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!made.space) return errno_error("open the new network namespace");
  made.netlink = Fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!made.netlink) return errno_error("open a netlink socket");
  const int on = 1;
  ::setsockopt(made.netlink.get(), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
  return made;
}

Status enter_network_namespace(int space) {
  if (::setns(space, CLONE_NEWNET) != 0) return errno_error("enter a network namespace");
  return Done{};
}

Status write_setting(const std::string& path, const std::string& value) {
  return write_file("/proc/sys/" + path, value);
}

}  // namespace mrc::lab
