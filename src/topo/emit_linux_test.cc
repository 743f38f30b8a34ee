// The kernel as judge: a node configured by the script and one configured by netlink end up with the same
// state.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "topo/emit.h"
#include "topo/shapes_for_test.h"

namespace mrc::topo {
namespace {

std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  std::string out;
  char buffer[4096];
  for (std::size_t n; pipe != nullptr && (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    out.append(buffer, n);
  if (pipe == nullptr || pclose(pipe) != 0) out += "\nfailed: " + command;
  return out;
}

void write_file(const char* path, const std::string& text) { std::ofstream(path) << text; }

/// A network namespace of our own, with a veth for each of the node's interfaces; false where the machine
/// forbids it.
bool enter_namespace(const NodeConfig& node) {
  const std::string uid = "0 " + std::to_string(getuid()) + " 1",
                    gid = "0 " + std::to_string(getgid()) + " 1";
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
  write_file("/proc/self/setgroups", "deny");
  write_file("/proc/self/uid_map", uid);
  write_file("/proc/self/gid_map", gid);
  for (const InterfaceConfig& i : node.interfaces) {
    const std::string peer = "x" + i.name;
    const std::string made =
        output_of("{ ip link add name " + i.name + " type veth peer name " + peer + " && ip link set dev " +
                  i.name + " addrgenmode none && ip link set dev " + peer + " addrgenmode none up; } 2>&1");
    if (!made.empty()) return false;
  }
  return true;
}

std::string send_netlink(const NodeConfig& node) {
  const auto batch = emit_netlink(node, [](const std::string& name) { return if_nametoindex(name.c_str()); });
  if (!batch) return batch.error().what;
  const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  std::string problems;
  for (std::size_t at = 0; at < batch->size();) {
    nlmsghdr h;
    std::memcpy(&h, &(*batch)[at], sizeof h);
    char reply[1024];
    if (send(fd, &(*batch)[at], h.nlmsg_len, 0) < 0 || recv(fd, reply, sizeof reply, 0) < 0)
      return "socket failed";
    nlmsgerr error;
    std::memcpy(&error, reply + sizeof h, sizeof error);
    if (error.error != 0)
      problems += "message " + std::to_string(h.nlmsg_seq) + ": " + strerror(-error.error) + "\n";
    at += h.nlmsg_len;
  }
  close(fd);
  return problems;
}

std::string run_script(const NodeConfig& node) {
  char path[] = "/tmp/mrc_emit_XXXXXX";
  close(mkstemp(path));
  write_file(path, emit_iproute2(node));
  const std::string out = output_of(std::string("sh ") + path + " 2>&1");
  unlink(path);
  return out;
}

/// The kernel's view after `configure` ran in a fresh namespace; "forbidden" where there can be none.
std::string state_after(const NodeConfig& node, std::string (*configure)(const NodeConfig&)) {
  int fds[2];
  if (pipe(fds) != 0) return "pipe failed";
  const pid_t child = fork();
  if (child == 0) {
    std::string text = "forbidden";
    if (enter_namespace(node)) {
      text = configure(node);
      text += output_of("ip -6 -oneline address show; ip -6 route show | sed 's/ proto static//'");
    }
    (void)!write(fds[1], text.data(), text.size());
    _exit(0);
  }
  close(fds[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(fds[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  close(fds[0]);
  waitpid(child, nullptr, 0);
  return text;
}

class LinuxConfig : public testing::TestWithParam<Node> {};
INSTANTIATE_TEST_SUITE_P(Emit, LinuxConfig,
                         testing::Values(host_node(HostId(3)), switch_node(1, Tier::t0, 2),
                                         switch_node(2, Tier::t1, 4), switch_node(2, Tier::t2, 3)));

TEST_P(LinuxConfig, ScriptAndNetlinkAgreeInTheKernel) {
  const auto topo = *Topology::make(three_tiers());
  const NodeConfig node = node_config(topo, GetParam());
  const std::string by_script = state_after(node, run_script);
  if (by_script == "forbidden") GTEST_SKIP() << "this machine forbids user and network namespaces";
  EXPECT_EQ(by_script.find("failed"), std::string::npos) << by_script;
  EXPECT_NE(by_script.find(to_string(node.sids[0].prefix)), std::string::npos) << by_script;
  EXPECT_EQ(by_script, state_after(node, send_netlink));
}

}  // namespace
}  // namespace mrc::topo
