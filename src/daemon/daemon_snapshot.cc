// Snapshots: every process is asked, and what they say goes to who asked, process by process.
#include <sys/utsname.h>
#include <time.h>

#include <algorithm>
#include <cerrno>

#include "daemon/daemon.h"
#include "daemon/version.h"

namespace mrc::daemon {

using namespace node;

void Daemon::on(Session& s, std::uint32_t id, const GetSnapshot& m) {
  if (snapshots_.size() >= settings_.most_snapshots || unsent() > settings_.unsent_bytes)
    return answer(s, id, EAGAIN, "too many snapshots are under way: try again");
  for (const PendingSnapshot& pending : snapshots_) {
    if (pending.asker == &s) return answer(s, id, EBUSY, "the snapshot before is still under way");
  }
  PendingSnapshot& pending = snapshots_.emplace_back();
  pending.asker = &s;
  pending.id = id;
  pending.deadline = Clock::now() + settings_.collect_timeout;
  for (const auto& session : sessions_) {
    if (!session->member || !s.asks_about(*session->device)) continue;
    if (++last_collect_ == 0) ++last_collect_;
    pending.from[session.get()].id = last_collect_;
    reply(*session, last_collect_, Collect{m.with_evs});
  }
}

void Daemon::on(Session& s, std::uint32_t, const Report& m) {
  if (!s.member) return;
  const ProcessFacts before = std::move(s.facts);
  s.facts = m.process;
  s.reported = true;
  // Who it is, the kernel and Hello have said.
  s.facts.pid = s.pid;
  s.facts.uid = s.uid;
  s.facts.device = s.device->name;
  s.facts.program = before.program;
  s.facts.first_qpn = before.first_qpn;
  s.facts.last_qpn = before.last_qpn;
  s.facts.answered = true;
  s.facts.ports.resize(s.device->ports.size());
}

void Daemon::on(Session& s, std::uint32_t id, QpPart& m) {
  for (PendingSnapshot& pending : snapshots_) {
    const auto from = pending.from.find(&s);
    if (from == pending.from.end() || from->second.id != id || from->second.done) continue;
    const std::size_t before = from->second.parts.size();
    if (pending.bytes >= settings_.snapshot_bytes) {
      pending.truncated = true;
      return;
    }
    emit_message({pending.id, std::move(m)}, from->second.parts);
    pending.bytes += from->second.parts.size() - before;
    return;
  }
}

void Daemon::on(Session& s, std::uint32_t id, const Answer&) {
  for (PendingSnapshot& pending : snapshots_) {
    const auto from = pending.from.find(&s);
    if (from != pending.from.end() && from->second.id == id) from->second.done = true;
  }
}

void Daemon::finish_snapshots() {
  const auto now = Clock::now();
  for (auto i = snapshots_.begin(); i != snapshots_.end();) {
    bool done = true;
    for (const auto& [session, collecting] : i->from) done = done && collecting.done;
    if (!done && now < i->deadline) {
      ++i;
      continue;
    }
    finish(*i);
    i = snapshots_.erase(i);
  }
}

void Daemon::finish(PendingSnapshot& pending) {
  Session& asker = *pending.asker;
  reply(asker, pending.id, SnapshotHead{head()});
  for (auto& [session, collecting] : pending.from) {
    ProcessFacts facts = session->facts;
    facts.answered = collecting.done;
    reply(asker, pending.id, Report{std::move(facts)});
    asker.socket.queue_bytes(collecting.parts);
  }
  answer(asker, pending.id, pending.truncated ? EOVERFLOW : 0,
         pending.truncated ? "more QPs than one snapshot carries" : "");
}

void Daemon::forget_snapshots(Session& session) {
  std::erase_if(snapshots_, [&](const PendingSnapshot& pending) { return pending.asker == &session; });
  for (PendingSnapshot& pending : snapshots_) pending.from.erase(&session);
}

DeviceFacts Daemon::facts_of(const DeviceState& device) const {
  const Account gone = device.gone();
  DeviceFacts out{.name = device.name, .guid = device.guid, .ports = {}, .totals = gone.totals};
  for (std::size_t i = 0; i < device.ports.size(); ++i) {
    PortFacts& port = out.ports.emplace_back();
    port.port = PortId(static_cast<std::uint8_t>(i + 1));
    port.interface = device.ports[i].interface;
    port.address = device.ports[i].address;
    port.counters = gone.ports[i];
    if (device.own()) {
      const lib::PortStatus status = device.device->port_status(port.port);
      port.link_up = status.link_up;
      port.link_mtu = status.link_mtu;
      port.bits_per_second = status.bits_per_second;
    }
  }
  for (const auto& session : sessions_) {
    if (!session->member || session->device != &device) continue;
    out.totals += session->facts.totals;
    for (std::size_t i = 0; i < session->facts.ports.size(); ++i) {
      const PortFacts& theirs = session->facts.ports[i];
      out.ports[i].counters += theirs.counters;
      if (device.own() || !session->reported) continue;
      out.ports[i].link_up = theirs.link_up;
      out.ports[i].link_mtu = theirs.link_mtu;
      out.ports[i].bits_per_second = theirs.bits_per_second;
    }
  }
  for (PortFacts& port : out.ports) port.admin_enabled = !device.disabled.has(port.port);
  out.formats = static_cast<std::uint32_t>(device.profiles.formats().size());
  out.ev_profiles = static_cast<std::uint32_t>(device.profiles.evs().size());
  out.cc_profiles = static_cast<std::uint32_t>(device.profiles.ccs().size());
  return out;
}

void Daemon::on(Session& s, std::uint32_t id, const GetDevices&) {
  DevicesAre own;
  for (const auto& [key, device] : devices_) {
    if (device->own()) own.devices.push_back(facts_of(*device));
  }
  std::sort(own.devices.begin(), own.devices.end(), [](const auto& a, const auto& b) {
    return std::pair(a.name.size(), a.name) < std::pair(b.name.size(), b.name);  // mrc2 before mrc10
  });
  reply(s, id, std::move(own));
}

Snapshot Daemon::head() const {
  Snapshot out;
  out.mrcd_pid = static_cast<std::uint32_t>(::getpid());
  utsname host{};
  if (::uname(&host) == 0) out.host = host.nodename;
  out.version = kVersion;
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  out.time_ns =
      static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
  out.uptime_ns = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - started_).count());
  for (const auto& [key, device] : devices_) out.devices.push_back(facts_of(*device));
  return out;
}

}  // namespace mrc::daemon
