#include "node/local_profiles.h"

#include <cerrno>

#include "node/resolve.h"

namespace mrc::node {
namespace {

/// Changes table[id] in place by `change`; a profile that is in INIT afterwards has no entry.
template <class Table, class Change>
auto modify(Table& table, std::uint64_t id, std::size_t room, Change change) {
  auto found = table.find(id);
  typename Table::mapped_type profile = found != table.end() ? found->second : typename Table::mapped_type{};
  auto result = change(profile);
  if (profile.state == ProfileState::init) {
    if (found != table.end()) table.erase(found);
  } else if (found != table.end()) {
    found->second = std::move(profile);
  } else if (table.size() < room) {
    table.emplace(id, std::move(profile));
  } else {
    return decltype(result){E2BIG};
  }
  return result;
}

template <class Table>
typename Table::mapped_type copy_of(const Table& table, std::uint64_t id) {
  const auto found = table.find(id);
  return found != table.end() ? found->second : typename Table::mapped_type{};
}

}  // namespace

std::uint32_t LocalProfiles::used_evs() const {
  std::uint32_t used = 0;
  for (const auto& [id, profile] : evs_) used += profile.count;
  return used;
}

std::uint32_t LocalProfiles::free_evs() const {
  const std::lock_guard lock(mutex_);
  return limits_.evs - used_evs();
}

const FormatProfile* LocalProfiles::find_format(std::uint64_t id) const {
  const auto found = formats_.find(id);
  return found != formats_.end() ? &found->second : nullptr;
}

int LocalProfiles::modify_format(std::uint64_t id, const FormatChange& change) {
  if (id == 0) return EINVAL;
  const std::lock_guard lock(mutex_);
  FormatSurroundings around;
  for (const auto& [unused, profile] : evs_) {
    around.used_online |= profile.format == id && profile.state == ProfileState::online;
  }
  return modify(formats_, id, limits_.formats,
                [&](FormatProfile& profile) { return change_format(change, around, limits_, profile); });
}

int LocalProfiles::modify_cc(std::uint64_t id, const CcChange& change) {
  if (id == 0) return EINVAL;
  const std::lock_guard lock(mutex_);
  return modify(ccs_, id, limits_.cc_profiles,
                [&](CcProfile& profile) { return change_cc(change, profile); });
}

Outcome LocalProfiles::modify_ev(std::uint64_t id, const EvChange& change) {
  if (id == 0) return {EINVAL};
  std::vector<Denial> denials;
  Outcome outcome;
  {
    const std::lock_guard lock(mutex_);
    const EvProfile before = copy_of(evs_, id);
    const EvSurroundings around{find_format(change.format.value_or(before.format)),
                                limits_.evs - used_evs() + before.count};
    outcome = modify(evs_, id, limits_.ev_profiles,
                     [&](EvProfile& profile) { return change_ev(change, around, limits_, profile); });
    if (!change.states.empty()) denials = announce_changes(id, before, copy_of(evs_, id));
  }
  const std::lock_guard lock(listeners_mutex_);
  for (const auto& [slot, denied] : denials) {
    for (auto* listener : listeners_) listener->on_ev_denied(id, slot, denied);
  }
  return outcome;
}

FormatProfile LocalProfiles::format(std::uint64_t id) const {
  const std::lock_guard lock(mutex_);
  return copy_of(formats_, id);
}

EvProfile LocalProfiles::ev(std::uint64_t id) const {
  const std::lock_guard lock(mutex_);
  return copy_of(evs_, id);
}

CcProfile LocalProfiles::cc(std::uint64_t id) const {
  const std::lock_guard lock(mutex_);
  return copy_of(ccs_, id);
}

std::map<std::uint64_t, FormatProfile> LocalProfiles::formats() const {
  const std::lock_guard lock(mutex_);
  return formats_;
}

std::map<std::uint64_t, EvProfile> LocalProfiles::evs() const {
  const std::lock_guard lock(mutex_);
  return evs_;
}

std::map<std::uint64_t, CcProfile> LocalProfiles::ccs() const {
  const std::lock_guard lock(mutex_);
  return ccs_;
}

Result<EvSet> LocalProfiles::acquire_ev(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = evs_.find(id);
  if (found == evs_.end() || found->second.state != ProfileState::online) {
    return Error{EINVAL, "EV profile " + std::to_string(id) + " is not ONLINE"};
  }
  ++found->second.users;
  return resolve(found->second, find_format(found->second.format));
}

void LocalProfiles::release_ev(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  if (const auto found = evs_.find(id); found != evs_.end() && found->second.users > 0) --found->second.users;
}

Result<engine::CcProfile> LocalProfiles::acquire_cc(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = ccs_.find(id);
  if (found == ccs_.end() || found->second.state != ProfileState::online) {
    return Error{EINVAL, "CC profile " + std::to_string(id) + " is not ONLINE"};
  }
  ++found->second.users;
  return engine::CcProfile{*found->second.algorithm, found->second.config.value_or(engine::NsccConfig{})};
}

void LocalProfiles::release_cc(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  if (const auto found = ccs_.find(id); found != ccs_.end() && found->second.users > 0) --found->second.users;
}

}  // namespace mrc::node
