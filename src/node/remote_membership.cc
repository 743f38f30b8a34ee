// What mrcd hears of this process, and what this process hears from mrcd.
#include "node/remote_profiles.h"

namespace mrc::node {

Hello RemoteProfiles::introduce() {
  Hello hello = member_.introduce();
  hello.life = life_;
  return hello;
}

void RemoteProfiles::on_welcome(const Welcome& welcome) {
  member_.on_ports_disabled(PortMask(welcome.disabled_ports));
  told_.reset();  // it may be another mrcd than before
  const auto locked = link_.lock();
  challenge_ = {welcome.receive_challenge, welcome.send_challenge};
  if (!met_) limits_ = welcome.limits;  // who has read them relies on them
  met_ = true;
}

std::vector<Body> RemoteProfiles::first_words() {
  std::vector<Body> first{holdings()};
  if (!queues_.empty()) first.push_back(Subscribe{static_cast<std::uint32_t>(EventKind::ev_state)});
  return first;
}

void RemoteProfiles::on_answer(const Body& body, bool claimed) {
  if (const auto* ev = std::get_if<EvAcquired>(&body)) {
    if (claimed) {
      ++evs_[ev->id].users;
      evs_[ev->id].set = ev->set;
    } else {
      link_.post_locked(ReleaseEv{ev->id});
    }
  } else if (const auto* cc = std::get_if<CcAcquired>(&body)) {
    if (claimed) {
      ++ccs_[cc->id].users;
      ccs_[cc->id].profile = cc->profile;
    } else {
      link_.post_locked(ReleaseCc{cc->id});
    }
  }
}

Holdings RemoteProfiles::holdings() const {
  Holdings all;
  for (const auto& [id, held] : evs_) {
    EvHolding& one = all.evs.emplace_back(EvHolding{id, held.users, {}});
    for (const auto& [slot, times] : held.bad) one.bad.insert(one.bad.end(), times, slot);
  }
  for (const auto& [id, held] : ccs_) all.ccs.push_back({id, held.users});
  return all;
}

void RemoteProfiles::on_message(const Body& body) {
  if (const auto* denied = std::get_if<EvDenied>(&body)) {
    {
      const auto locked = link_.lock();
      const auto found = evs_.find(denied->id);
      if (found != evs_.end() && denied->slot < found->second.set.evs.size())
        found->second.set.evs[denied->slot].denied = denied->denied;
    }
    tell({{denied->id, denied->slot, denied->denied}});
  } else if (const auto* held = std::get_if<Held>(&body)) {
    adopt(*held);
  } else if (const auto* ports = std::get_if<PortsDisabled>(&body)) {
    member_.on_ports_disabled(PortMask(ports->mask));
  } else if (const auto* event = std::get_if<NodeEvent>(&body)) {
    on_event(*event);
  }
}

/// The controller may have denied and allowed EVs while we were away.
void RemoteProfiles::adopt(const Held& held) {
  std::vector<Denial> changes;
  {
    const auto locked = link_.lock();
    for (const HeldEv& one : held.evs) {
      const auto found = evs_.find(one.id);
      if (found == evs_.end()) continue;
      const std::set<std::uint32_t> denied(one.denied.begin(), one.denied.end());
      auto& evs = found->second.set.evs;
      for (std::uint32_t slot = 0; slot < evs.size(); ++slot) {
        const bool now = denied.contains(slot);
        if (evs[slot].denied != now) changes.push_back({one.id, slot, now});
        evs[slot].denied = now;
      }
    }
  }
  tell(changes);
}

void RemoteProfiles::tell(const std::vector<Denial>& denials) {
  const std::lock_guard lock(listeners_mutex_);
  for (const Denial& d : denials) {
    for (ProfileListener* listener : listeners_) listener->on_ev_denied(d.id, d.slot, d.denied);
  }
}

void RemoteProfiles::on_event(const NodeEvent& event) {
  if (event.kind != EventKind::ev_state) return;
  const auto locked = link_.lock();
  for (EvEventQueue* queue : queues_) queue->push({event.profile, event.value, event.state, event.dropped});
}

void RemoteProfiles::collect(bool with_evs, const std::function<void(Body)>& tell_piece) {
  // Few at a time: the device is held while they are read.
  constexpr std::size_t kAtATime = 32;
  tell_piece(Report{member_.process_facts()});
  const std::vector<Qpn> all = member_.qpns();
  for (std::size_t i = 0; i < all.size(); i += kAtATime) {
    const auto some = std::span(all).subspan(i, std::min(kAtATime, all.size() - i));
    if (auto facts = member_.qp_facts(some, with_evs); !facts.empty()) tell_piece(QpPart{std::move(facts)});
  }
}

std::optional<Body> RemoteProfiles::news() {
  ProcessFacts facts = member_.process_facts();
  if (facts.totals == told_) return std::nullopt;
  told_ = facts.totals;
  return Report{std::move(facts)};
}

void RemoteProfiles::note_qp_failed(Qpn qpn) {
  link_.post(Happened{.kind = EventKind::qp_failed, .port = {}, .up = false, .qpn = qpn});
}

void RemoteProfiles::listen(ProfileListener* listener) {
  const std::lock_guard lock(listeners_mutex_);
  listeners_.insert(listener);
}

void RemoteProfiles::unlisten(ProfileListener* listener) {
  const std::lock_guard lock(listeners_mutex_);
  listeners_.erase(listener);
}

void RemoteProfiles::subscribe(EvEventQueue* queue) {
  {
    const auto locked = link_.lock();
    queues_.insert(queue);
    if (queues_.size() > 1) return;
  }
  // Events count from now on: wait until mrcd knows. When it is away it hears on its return.
  (void)link_.call(Subscribe{static_cast<std::uint32_t>(EventKind::ev_state)});
}

void RemoteProfiles::unsubscribe(EvEventQueue* queue) {
  {
    const auto locked = link_.lock();
    queues_.erase(queue);
    if (!queues_.empty()) return;
  }
  link_.post(Subscribe{0});
}

void RemoteProfiles::after_fork_in_parent() {
  link_.after_fork_in_parent();
  listeners_mutex_.unlock();
}

void RemoteProfiles::after_fork_in_child() {
  link_.after_fork_in_child();
  listeners_mutex_.unlock();
}

}  // namespace mrc::node
