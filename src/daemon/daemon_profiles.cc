// Profiles: for controllers, who change them, and for processes, whose QPs hold them.
#include <cerrno>

#include "daemon/daemon.h"

namespace mrc::daemon {

using namespace node;

bool Daemon::has_device(Session& s, std::uint32_t id) {
  if (s.device == nullptr) answer(s, id, EINVAL, "say in Hello which device this is about");
  return s.device != nullptr;
}

// MRC-NODE-002: looking is free to whoever may connect; changing anything needs CAP_NET_ADMIN, proven.
bool Daemon::may_change(Session& s, std::uint32_t id) {
  if (!has_device(s, id)) return false;
  if (!s.controller)
    answer(s, id, EPERM, "only a process with CAP_NET_ADMIN may control a node: run it as root");
  return s.controller;
}

void Daemon::changed(DeviceState& device, ProfileKind kind, std::uint64_t id, std::uint32_t pid) {
  dirty_ = true;
  broadcast(device, {.kind = EventKind::profile_changed, .pid = pid, .profile_kind = kind, .profile = id});
}

void Daemon::on(Session& s, std::uint32_t id, const ModifyFormat& m) {
  if (!may_change(s, id)) return;
  const int error = s.device->profiles.modify_format(m.id, m.change);
  if (error == 0) changed(*s.device, ProfileKind::format, m.id, s.pid);
  answer(s, id, error);
}

void Daemon::on(Session& s, std::uint32_t id, const ModifyCc& m) {
  if (!may_change(s, id)) return;
  const int error = s.device->profiles.modify_cc(m.id, m.change);
  if (error == 0) changed(*s.device, ProfileKind::cc, m.id, s.pid);
  answer(s, id, error);
}

void Daemon::on(Session& s, std::uint32_t id, const ModifyEv& m) {
  if (!may_change(s, id)) return;
  const EvProfile before = s.device->profiles.ev(m.id);
  const Outcome outcome = s.device->profiles.modify_ev(m.id, m.change);
  // Of an array, the entries before the one that failed took effect.
  if (outcome.error == 0 || outcome.entry > 0) changed(*s.device, ProfileKind::ev, m.id, s.pid);
  if (!m.change.states.empty()) tell_denials(*s.device, m.id, before);
  answer(s, id, outcome.error, "", outcome.entry);
}

/// Every process whose QPs may use the EVs hears which of them are denied now, and which no longer.
void Daemon::tell_denials(DeviceState& device, std::uint64_t id, const EvProfile& before) {
  const EvProfile after = device.profiles.ev(id);
  for (std::uint32_t slot = 0; slot < after.slots.size() && slot < before.slots.size(); ++slot) {
    if (after.slots[slot].denied == before.slots[slot].denied) continue;
    for (const auto& session : sessions_) {
      if (session->device == &device && session->evs.contains(id))
        reply(*session, 0, EvDenied{id, slot, after.slots[slot].denied});
    }
  }
}

void Daemon::on(Session& s, std::uint32_t id, const GetFormat& m) {
  if (has_device(s, id)) reply(s, id, FormatIs{s.device->profiles.format(m.id)});
}
void Daemon::on(Session& s, std::uint32_t id, const GetEv& m) {
  if (has_device(s, id)) reply(s, id, EvIs{s.device->profiles.ev(m.id)});
}
void Daemon::on(Session& s, std::uint32_t id, const GetCc& m) {
  if (has_device(s, id)) reply(s, id, CcIs{s.device->profiles.cc(m.id)});
}

void Daemon::on(Session& s, std::uint32_t id, const GetProfiles&) {
  if (!has_device(s, id)) return;
  ProfilesAre all{.free_evs = s.device->profiles.free_evs(), .profiles = {}};
  for (const auto& [number, p] : s.device->profiles.formats()) {
    all.profiles.push_back(
        {ProfileKind::format, number, p.state, 0, static_cast<std::uint32_t>(p.widths.size())});
  }
  for (const auto& [number, p] : s.device->profiles.evs()) {
    all.profiles.push_back({ProfileKind::ev, number, p.state, p.users, p.count});
  }
  for (const auto& [number, p] : s.device->profiles.ccs()) {
    all.profiles.push_back({ProfileKind::cc, number, p.state, p.users, 0});
  }
  reply(s, id, std::move(all));
}

// MRC-NODE-001: a profile serves the QPs of every process, and is busy while any of them holds it.
void Daemon::on(Session& s, std::uint32_t id, const AcquireEv& m) {
  if (!has_device(s, id)) return;
  auto set = s.device->profiles.acquire_ev(m.id);
  if (!set) return answer(s, id, set.error().code, set.error().what);
  ++s.evs[m.id].users;
  reply(s, id, EvAcquired{m.id, std::move(*set)});
}

void Daemon::on(Session& s, std::uint32_t id, const AcquireCc& m) {
  if (!has_device(s, id)) return;
  auto profile = s.device->profiles.acquire_cc(m.id);
  if (!profile) return answer(s, id, profile.error().code, profile.error().what);
  ++s.ccs[m.id];
  reply(s, id, CcAcquired{m.id, *profile});
}

void Daemon::on(Session& s, std::uint32_t, const ReleaseEv& m) {
  const auto held = s.evs.find(m.id);
  if (held == s.evs.end()) return;
  s.device->profiles.release_ev(m.id);
  if (--held->second.users == 0) release(s, m.id);
}

void Daemon::on(Session& s, std::uint32_t, const ReleaseCc& m) {
  const auto held = s.ccs.find(m.id);
  if (held == s.ccs.end()) return;
  s.device->profiles.release_cc(m.id);
  if (--held->second == 0) s.ccs.erase(held);
}

void Daemon::on(Session& s, std::uint32_t, const ReportEv& m) {
  const auto held = s.evs.find(m.id);
  if (held == s.evs.end()) return;
  std::uint32_t& reports = held->second.bad[m.slot];
  // No QP more than there are can hold an EV for bad.
  if (m.bad ? reports >= held->second.users : reports == 0) return;
  reports += m.bad ? 1 : -1;
  if (reports == 0) held->second.bad.erase(m.slot);
  s.device->profiles.report_ev(m.id, m.slot, m.bad);
}

/// What a process held before mrcd was restarted counts again.
void Daemon::on(Session& s, std::uint32_t, const Holdings& m) {
  if (s.device == nullptr || !s.member) return;
  release_all(s);
  constexpr std::uint32_t kMostUsers = 1 << 20;
  Held held;
  for (const EvHolding& one : m.evs) {
    for (std::uint32_t i = 0; i < std::min(one.users, kMostUsers); ++i) {
      if (!s.device->profiles.acquire_ev(one.id))
        break;  // the state file did not have it: its QPs go on without
      ++s.evs[one.id].users;
    }
    for (const std::uint32_t slot : one.bad) on(s, 0, ReportEv{one.id, slot, true});
    HeldEv& answer_for = held.evs.emplace_back(HeldEv{one.id, {}});
    const EvProfile profile = s.device->profiles.ev(one.id);
    for (std::uint32_t slot = 0; slot < profile.slots.size(); ++slot) {
      if (profile.slots[slot].denied) answer_for.denied.push_back(slot);
    }
  }
  for (const CcHolding& one : m.ccs) {
    for (std::uint32_t i = 0; i < std::min(one.users, kMostUsers); ++i) {
      if (!s.device->profiles.acquire_cc(one.id)) break;
      ++s.ccs[one.id];
    }
  }
  reply(s, 0, std::move(held));
}

/// The process has no QP on it any more: what those said of its EVs is void.
void Daemon::release(Session& s, std::uint64_t id) {
  for (const auto& [slot, times] : s.evs[id].bad) {
    for (std::uint32_t i = 0; i < times; ++i) s.device->profiles.report_ev(id, slot, false);
  }
  s.evs.erase(id);
}

void Daemon::release_all(Session& s) {
  while (!s.evs.empty()) {
    const auto [id, held] = *s.evs.begin();
    for (std::uint32_t i = 0; i < held.users; ++i) s.device->profiles.release_ev(id);
    release(s, id);
  }
  for (const auto& [id, users] : s.ccs) {
    for (std::uint32_t i = 0; i < users; ++i) s.device->profiles.release_cc(id);
  }
  s.ccs.clear();
}

}  // namespace mrc::daemon
