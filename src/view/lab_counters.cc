#include "view/lab_counters.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <charconv>

#include "lab/lab.h"
#include "view/pass_fd.h"

namespace mrc::view {
namespace {

using port::errno_error;
using port::Fd;

std::vector<topo::Node> nodes_of(const topo::Topology& topo) {
  std::vector<topo::Node> out;
  for (std::uint32_t h = 0; h < topo.hosts(); ++h) out.push_back(topo::host_node(topo::HostId(h)));
  for (std::uint32_t s = 0; s < topo.switches(); ++s) out.push_back(topo.switch_at(s));
  return out;
}

/// In the child: goes through the lab and hands the files out.
[[noreturn]] void hand_out(const std::string& name, const topo::Topology& topo, int to) {
  auto lab = lab::Lab::find(name);
  for (const topo::Node& node : nodes_of(topo)) {
    if (!lab || !lab->enter(topo.name(node))) ::_exit(1);
    const Fd file(::open("/proc/thread-self/net/dev", O_RDONLY | O_CLOEXEC));
    if (!send_fd(to, file.get())) ::_exit(1);
  }
  ::_exit(0);
}

/// The next number of a line of /proc/net/dev.
std::uint64_t take_number(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  std::uint64_t n = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
  text.remove_prefix(problem == std::errc() ? static_cast<std::size_t>(end - text.data()) : text.size());
  return n;
}

}  // namespace

Result<LabCounters> LabCounters::open(const std::string& lab, const topo::Topology& topo) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno_error("socketpair");
  Fd ours(ends[0]), theirs(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return errno_error("fork");
  if (child == 0) hand_out(lab, topo, theirs.get());
  theirs.reset();
  LabCounters out(topo);
  out.nodes_ = nodes_of(topo);
  for (std::size_t i = 0; i < out.nodes_.size(); ++i) {
    out.files_.push_back(receive_fd(ours.get()));
    if (!out.files_.back()) break;
  }
  ::waitpid(child, nullptr, 0);
  if (out.files_.size() != out.nodes_.size() || !out.files_.back())
    return Error{EIO, "the counters of lab '" + lab + "' can not be read; does it still run?"};
  return out;
}

Status LabCounters::read(std::vector<HopReading>& out) {
  out.assign(2 * std::size_t{topo_.links()}, {});
  std::string text(256 + 512 * std::size_t{64}, '\0');
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const ssize_t n = ::pread(files_[i].get(), text.data(), text.size(), 0);
    if (n <= 0) return errno_error("read the counters of " + topo_.name(nodes_[i]));
    std::string_view rest(text.data(), static_cast<std::size_t>(n));
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      take_line(nodes_[i], rest.substr(0, end), out);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return Done{};
}

// "   p0: rx bytes packets errs drop fifo frame compressed multicast  tx bytes packets errs drop ..."
void LabCounters::take_line(topo::Node node, std::string_view line, std::vector<HopReading>& out) const {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  std::string_view name = line.substr(0, colon), numbers = line.substr(colon + 1);
  while (name.starts_with(' ')) name.remove_prefix(1);
  std::uint64_t field[12];
  for (std::uint64_t& f : field) f = take_number(numbers);
  for (std::uint32_t port = 0; port < topo_.ports(node); ++port) {
    const topo::Attachment at{node, port};
    if (topo_.port_name(at) != name) continue;
    const auto hop = topo_.hop_from(at);
    if (!hop) return;
    HopReading& sent = out[hop->index()];
    sent.bytes = field[8];
    sent.packets = field[9];
    sent.dropped += field[11];
    out[hop->index() ^ 1].dropped += field[3];
  }
}

}  // namespace mrc::view
