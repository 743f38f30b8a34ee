#include "tools/lab_account.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "lab/soft_nodes.h"
#include "lab/switch_control.h"
#include "topo/topo.h"

namespace mrc::tools {
namespace {

constexpr std::size_t kLongest = 4096;  // of what one switch says

/// The kernel's counters of this network namespace, port by port: in/out, and drops where there are any.
std::string kernel_counters() {
  std::ifstream file("/proc/thread-self/net/dev");
  std::ostringstream out;
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string name = line.substr(line.find_first_not_of(' '), colon - line.find_first_not_of(' '));
    if (name == "lo") continue;
    std::uint64_t n[12] =
        {};  // received: bytes, packets, errors, drops, ...; sent: the same from the ninth on
    std::istringstream numbers(line.substr(colon + 1));
    for (std::uint64_t& value : n) numbers >> value;
    out << ' ' << name << ' ' << n[1] << '/' << n[9];
    if (n[3] + n[11] > 0) out << " dropped " << n[3] << '/' << n[11];
  }
  return out.str();
}

/// In a child that stands on the node, so that we stay where we are.
std::string counters_on(lab::Lab& lab, const std::string& node) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return " no socket";
  const lab::Fd ours(ends[0]), theirs(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto entered = lab.enter(node);
    const auto told = entered ? lab::tell_switch(lab::switch_control_name(node), "stats")
                              : Result<std::string>(entered.error());
    std::string said = !entered ? " " + entered.error().what : told ? " " + *told : kernel_counters();
    said.resize(std::min(said.size(), kLongest));
    (void)!::write(theirs.get(), said.data(), said.size());
    ::_exit(0);
  }
  if (child < 0) return " no process";
  ::waitpid(child, nullptr, 0);
  char text[kLongest];
  const ssize_t n = ::recv(ours.get(), text, sizeof text, MSG_DONTWAIT);
  return n > 0 ? std::string(text, static_cast<std::size_t>(n)) : " silent";
}

}  // namespace

std::string switch_account(lab::Lab& lab) {
  const auto toml = lab.topology();
  if (!toml) return "\nswitches: " + toml.error().what;
  const auto spec = topo::parse_spec(*toml, "the lab");
  const auto topo = spec ? topo::Topology::make(*spec) : Result<topo::Topology>(spec.error());
  if (!topo) return "\nswitches: " + topo.error().what;
  std::string out = "\nswitches, in/out by port:";
  for (std::uint32_t s = 0; s < topo->switches(); ++s) {
    const std::string node = topo->name(topo->switch_at(s));
    out += "\n  " + node + counters_on(lab, node);
  }
  return out;
}

}  // namespace mrc::tools
