// Metrics: what mrcd knows, as text for whoever scrapes it. Processes tell their counters once a second while
// they change, so nobody is asked, and a scrape costs no process anything.
#include <sys/epoll.h>

#include <algorithm>

#include "daemon/daemon.h"
#include "node/metrics.h"

namespace mrc::daemon {

using namespace node;

namespace {

/// A process may have several connections for one device: it is one process all the same.
void merge(std::vector<ProcessFacts>& processes, ProcessFacts more) {
  const auto same = std::find_if(processes.begin(), processes.end(), [&](const ProcessFacts& p) {
    return p.pid == more.pid && p.device == more.device;
  });
  if (same == processes.end()) return processes.push_back(std::move(more));
  same->totals += more.totals;
  same->qp_count += more.qp_count;
  for (std::size_t i = 0; i < std::min(same->ports.size(), more.ports.size()); ++i)
    same->ports[i].counters += more.ports[i].counters;
}

}  // namespace

Status Daemon::open_metrics() {
  if (settings_.metrics.empty()) return Done{};
  metrics_page_.add("/metrics", [this](TextForm form) { return node_metrics(metrics_snapshot(), form); });
  metrics_page_.add("/metrics/processes",
                    [this](TextForm form) { return process_metrics(metrics_snapshot().processes, form); });
  auto server = metrics_page_.listen(settings_.metrics);
  if (!server) return server.error();
  metrics_ = std::move(*server);
  epoll_event event{.events = EPOLLIN, .data = {.ptr = &metrics_}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, metrics_->fd(), &event) != 0)
    return port::errno_error("watch the metrics");
  return Done{};
}

/// Every series once: a process appears once per device.
Snapshot Daemon::metrics_snapshot() const {
  Snapshot all = head();
  for (const auto& session : sessions_) {
    if (!session->member) continue;
    ProcessFacts facts = session->facts;
    for (std::size_t i = 0; i < facts.ports.size(); ++i)
      facts.ports[i].port = PortId(static_cast<std::uint8_t>(i + 1));
    merge(all.processes, std::move(facts));
  }
  return all;
}

}  // namespace mrc::daemon
