#include "view/lab_nodes.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "lab/host_paths.h"
#include "lab/lab.h"
#include "lab/offspring.h"
#include "view/pass_fd.h"

namespace mrc::view {
namespace {

using namespace std::chrono_literals;
using port::Fd;

constexpr auto kAskEvery = 250ms, kLookEvery = 1000ms;

/// In the child: on each host that is named it connects to the mrcd, and hands the connection out.
[[noreturn]] void guide(const std::string& name, const topo::Topology& topo, int to) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto lab = lab::Lab::find(name);
  std::uint32_t host = 0;
  while (::recv(to, &host, sizeof host, 0) == sizeof host) {
    const bool there = lab && lab->enter(topo.name(topo::host_node(topo::HostId(host))));
    const auto connected =
        there ? node::connect_daemon(lab::kHostDaemon) : Result<Fd>(Error{ENOENT, "no such host"});
    if (!send_fd(to, connected ? connected->get() : -1)) break;
  }
  ::_exit(0);
}

}  // namespace

LabNodes::LabNodes(const topo::Topology& topo, Fd guide, int guide_pid)
    : topo_(topo), guide_(std::move(guide)), guide_pid_(guide_pid), hosts_(topo.hosts()) {}

Result<std::unique_ptr<LabNodes>> LabNodes::open(const std::string& lab, const topo::Topology& topo) {
  auto child = lab::fork_with_channel();
  if (!child) return child.error();
  if (child->pid == 0) guide(lab, topo, child->channel.get());
  return std::unique_ptr<LabNodes>(new LabNodes(topo, std::move(child->channel), child->pid));
}

LabNodes::~LabNodes() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  guide_.reset();  // it ends when nobody can ask any more
  ::waitpid(guide_pid_, nullptr, 0);
}

void LabNodes::start() {
  thread_ = std::thread([this] { work(); });
}

void LabNodes::work() {
  for (;;) {
    for (std::uint32_t h = 0; h < hosts_.size(); ++h) ask(h);
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, kAskEvery, [&] { return ending_; })) return;
  }
}

bool LabNodes::connect(std::uint32_t host) {
  Host& h = hosts_[host];
  const auto now = std::chrono::steady_clock::now();
  if (now - h.tried < kLookEvery) return false;
  h.tried = now;
  if (::send(guide_.get(), &host, sizeof host, MSG_NOSIGNAL) != sizeof host) return false;
  Fd fd = receive_fd(guide_.get());
  if (!fd) return false;
  auto client = node::DaemonClient::adopt(std::move(fd));
  if (client) h.client.emplace(std::move(*client));
  return h.client.has_value();
}

void LabNodes::ask(std::uint32_t host) {
  Host& h = hosts_[host];
  if (!h.client && !connect(host)) return;
  auto snapshot = h.client->snapshot(true);
  const std::lock_guard lock(mutex_);
  if (snapshot) {
    h.last = std::move(*snapshot);
  } else {
    h.client.reset();
    h.last.reset();
  }
}

std::size_t LabNodes::take(Frame& f) {
  const auto host_at = [&](const node::AddressBytes& address) -> std::optional<std::uint32_t> {
    const auto port = topo_.host_at(Ipv6{address});
    return port ? std::optional(port->host.value) : std::nullopt;
  };
  const auto ev_at = [&](const node::ProcessFacts&, const node::EvFacts& ev) -> std::optional<Ev> {
    if (topo_.choice(ev.ev)) return ev.ev;
    const auto way = lab::way_of_source_port(topo_, {}, static_cast<std::uint16_t>(ev.ev.value));
    return way ? std::optional(topo_.ev(*way)) : std::nullopt;
  };
  std::size_t answering = 0;
  const std::lock_guard lock(mutex_);
  for (std::uint32_t h = 0; h < hosts_.size(); ++h) {
    if (!hosts_[h].last) continue;
    ++answering;
    hosts_[h].frames.take(*hosts_[h].last, h, host_at, ev_at, f);
  }
  return answering;
}

}  // namespace mrc::view
