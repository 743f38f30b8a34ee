// Ports, and what happens: to whoever subscribed.
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "daemon/daemon.h"

namespace mrc::daemon {

using namespace node;

namespace {

constexpr std::size_t kRoomForEvents = 64 << 10;  // unsent bytes beyond which events wait in their own queue

std::uint64_t real_time_ns() {
  timespec t;
  ::clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

}  // namespace

// MRC-CTL-001: a port that the controller disabled is down for every process of the node, also for those to
// come.
void Daemon::on(Session& s, std::uint32_t id, const SetPort& m) {
  if (!may_change(s, id)) return;
  if (!s.device->has(m.port)) return answer(s, id, EINVAL, "the device has no such port");
  m.enabled ? s.device->disabled.remove(m.port) : s.device->disabled.add(m.port);
  dirty_ = true;
  if (s.device->own()) s.device->device->set_port_admin(m.port, m.enabled);
  for (const auto& session : sessions_) {
    if (session->device == s.device && session->member)
      reply(*session, 0, PortsDisabled{s.device->disabled.bits()});
  }
  broadcast(*s.device, {.kind = EventKind::port_admin, .pid = s.pid, .port = m.port, .up = m.enabled});
  answer(s, id, 0);
}

void Daemon::on(Session& s, std::uint32_t id, const Subscribe& m) {
  s.kinds = m.kinds & kAllEvents;
  if (s.kinds == 0) s.events.clear();
  answer(s, id, 0);
}

void Daemon::on(Session& s, std::uint32_t, const Happened& m) {
  if (!s.member || m.kind != EventKind::qp_failed) return;
  broadcast(*s.device, {.kind = m.kind, .pid = s.pid, .qpn = m.qpn});
}

void Daemon::broadcast(DeviceState& device, NodeEvent event) {
  event.time_ns = real_time_ns();
  event.device = device.name;
  for (const auto& session : sessions_) {
    if ((session->kinds & static_cast<std::uint32_t>(event.kind)) == 0 || !session->asks_about(device))
      continue;
    // MRC-CTL-016: what does not fit is counted, and the next event says how many are missing.
    if (session->events.size() >= settings_.most_events) {
      ++session->dropped;
      continue;
    }
    event.dropped = std::exchange(session->dropped, 0);
    session->events.push_back(event);
    touched_.insert(session.get());
  }
}

void Daemon::pump(Session& session) {
  while (!session.events.empty() && session.socket.queued() < kRoomForEvents) {
    session.socket.queue({0, std::move(session.events.front())});
    session.events.pop_front();
  }
}

void Daemon::drain_ev_events(DeviceState& device) {
  EvEvent some[64];
  while (const std::size_t n = device.ev_events.poll(some)) {
    for (std::size_t i = 0; i < n; ++i) {
      broadcast(device, {.kind = EventKind::ev_state,
                         .profile = some[i].profile,
                         .value = some[i].value,
                         .state = some[i].state});
    }
  }
}

void Daemon::on_port(PortId, bool) {
  const std::lock_guard lock(links_mutex_);
  links_changed_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(kick_.get(), &one, sizeof one);
}

/// Some device of ours said that a link changed: which, the links themselves tell.
void Daemon::take_link_events() {
  std::uint64_t count;
  [[maybe_unused]] const auto taken = ::read(kick_.get(), &count, sizeof count);
  {
    const std::lock_guard lock(links_mutex_);
    if (!std::exchange(links_changed_, false)) return;
  }
  for (auto& [key, device] : devices_) {
    for (std::size_t i = 0; device->own() && i < device->ports.size(); ++i) {
      const PortId port(static_cast<std::uint8_t>(i + 1));
      const bool up = device->device->port_status(port).link_up;
      if (up == links_up_[key].has(port)) continue;
      up ? links_up_[key].add(port) : links_up_[key].remove(port);
      broadcast(*device, {.kind = EventKind::port_link, .port = port, .up = up});
    }
  }
}

}  // namespace mrc::daemon
