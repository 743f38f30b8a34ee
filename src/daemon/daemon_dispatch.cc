// One message: who may say it, and who takes it.
#include <cerrno>

#include "daemon/daemon.h"
#include "daemon/version.h"

namespace mrc::daemon {

using namespace node;

void Daemon::reply(Session& session, std::uint32_t id, Body body) {
  session.socket.queue({id, std::move(body)});
  touched_.insert(&session);
}

void Daemon::answer(Session& session, std::uint32_t id, int error, std::string what, std::uint32_t entry) {
  if (id != 0) reply(session, id, Answer{error, entry, std::move(what)});
}

/// False: the session broke the protocol and goes.
bool Daemon::handle(Session& session, Message& message) {
  // MRC-NODE-004: who does not begin with Hello, or says it twice, is not one of ours.
  if (auto* hello = std::get_if<Hello>(&message.body))
    return !session.greeted && on(session, message.id, *hello);
  if (!session.greeted) return false;
  return std::visit(
      [&](auto& body) {
        if constexpr (requires { on(session, message.id, body); }) {
          on(session, message.id, body);
          if (session.device != nullptr) drain_ev_events(*session.device);  // in the order of their causes
          return true;
        } else {
          return false;  // only mrcd says this
        }
      },
      message.body);
}

bool Daemon::on(Session& s, std::uint32_t id, Hello& m) {
  s.greeted = true;
  s.facts.pid = s.pid;
  s.facts.uid = s.uid;
  s.facts.program = m.program;
  if (m.protocol != kProtocol) {
    const Error why = different_versions(kProtocol, m.protocol);
    answer(s, id, why.code, why.what);
    return true;
  }
  if (m.network != 0 && m.network != own_network()) {
    answer(s, id, EXDEV, "this mrcd serves another network namespace: start one in yours");
    return true;
  }
  s.device = m.ports.empty() ? device_named(m.device) : device_for(m);
  if (s.device == nullptr && !m.device.empty()) {
    const bool full = !m.ports.empty();
    answer(s, id, full ? E2BIG : ENODEV,
           full ? "mrcd knows too many devices already"
                : "no process and no setting of mrcd has a device " + m.device);
    return true;
  }
  if (s.device != nullptr) ++s.device->sessions;
  if (!m.ports.empty()) join(s, m);
  Welcome welcome;
  welcome.pid = static_cast<std::uint32_t>(::getpid());
  welcome.version = kVersion;
  if (s.device != nullptr) welcome.limits = s.device->profiles.limits();
  welcome.receive_challenge = s.challenge.receive;
  welcome.send_challenge = s.challenge.send;
  if (s.device != nullptr) welcome.disabled_ports = s.device->disabled.bits();
  reply(s, id, welcome);
  return true;
}

void Daemon::join(Session& s, const Hello& m) {
  for (const auto& other : sessions_) {  // it knows that this one is lost before we do
    if (other->member && other->pid == s.pid && other->life == m.life && m.life != 0) part(*other);
  }
  s.member = true;
  s.life = m.life;
  s.facts.device = s.device->name;
  s.facts.first_qpn = m.first_qpn;
  s.facts.last_qpn = m.last_qpn;
  // Counters never fall: until it reports, it has done what it had done.
  if (const auto account = s.device->take_back(s.pid, s.life)) {
    s.facts.totals = account->totals;
    for (const PortCounters& counters : account->ports) s.facts.ports.push_back({.counters = counters});
  }
  broadcast(*s.device, {.kind = EventKind::process_joined, .pid = s.pid});
}

/// mrcd's own device of that name comes first.
DeviceState* Daemon::device_named(const std::string& name) {
  DeviceState* found = nullptr;
  for (auto& [key, device] : devices_) {
    if (device->name == name && (found == nullptr || device->own())) found = device.get();
  }
  return found;
}

DeviceState* Daemon::device_for(const Hello& m) {
  const std::string key = key_of(m.ports);
  if (const auto found = devices_.find(key); found != devices_.end()) return found->second.get();
  if (devices_.size() >= settings_.most_devices) return nullptr;
  const std::string name = name_beside(devices_, m.device, m.ports);
  return (devices_[key] = std::make_unique<DeviceState>(name, m.guid, m.ports)).get();
}

/// It is no process of its device any more; what it did stays.
void Daemon::part(Session& s) {
  s.member = false;
  s.device->retire(s.facts, s.life);
  broadcast(*s.device, {.kind = EventKind::process_left, .pid = s.pid});
}

void Daemon::leave(Session& s) {
  if (s.device == nullptr) return;
  release_all(s);
  if (s.member) part(s);
  if (--s.device->sessions > 0 || !s.device->blank()) return;
  std::erase_if(devices_, [&](const auto& entry) { return entry.second.get() == s.device; });
}

void Daemon::on(Session& s, std::uint32_t id, const Prove&) {
  const port::Fd proof = s.socket.take_descriptor();
  s.controller = proof && proves(proof.get(), s.challenge);
  answer(s, id, s.controller ? 0 : EPERM,
         s.controller ? "" : "only a process with CAP_NET_ADMIN may control a node: run it as root");
}

}  // namespace mrc::daemon
