// The ProfileStore's functions, each a message to mrcd.
#include "node/remote_profiles.h"

#include <sys/random.h>

#include <cerrno>

namespace mrc::node {
namespace {

/// Of a request that is answered with an Answer, or refused with one.
Outcome outcome_of(const Result<Body>& answer) {
  if (!answer) return {answer.error().code, 0};
  const auto* said = std::get_if<Answer>(&*answer);
  return said != nullptr ? Outcome{said->error, said->entry} : Outcome{EPROTO, 0};
}

Error away() { return {EAGAIN, "mrcd is not there at the moment: try again"}; }

/// REQUIRES: there is an answer.
Error refusal_of(const Result<Body>& answer) {
  const auto* said = std::get_if<Answer>(&*answer);
  return said != nullptr && said->error != 0 ? Error{said->error, said->what}
                                             : Error{EPROTO, "mrcd gave another answer than asked for"};
}

std::uint64_t new_life() {
  std::uint64_t life = 0;
  while (life == 0) [[maybe_unused]] const auto got = ::getrandom(&life, sizeof life, 0);
  return life;
}

}  // namespace

RemoteProfiles::RemoteProfiles(std::string path, Member& member, const LinkSettings& settings)
    : member_(member), life_(new_life()), link_(std::move(path), *this, settings) {}

/// A request that only controllers may make: refused at first, it is made again with the proof.
Outcome RemoteProfiles::command(const Body& body) const {
  constexpr auto kFail =
      DaemonLink::IfLost::fail;  // it may have been done: only the controller knows what then
  Outcome outcome = outcome_of(link_.call(body, kFail));
  if (outcome.error != EPERM) return outcome;
  Challenge challenge;
  {
    const auto locked = link_.lock();
    challenge = challenge_;
  }
  auto proof = make_proof(challenge);
  if (!proof) return outcome;
  outcome = outcome_of(link_.call(Prove{}, kFail, std::move(*proof)));
  return outcome.error == 0 ? outcome_of(link_.call(body, kFail)) : outcome;
}

/// A question, and the one kind of answer that is one.
template <class Wanted>
Result<Wanted> RemoteProfiles::ask(const Body& question) const {
  auto answer = link_.call(question);
  if (!answer) return answer.error();
  auto* wanted = std::get_if<Wanted>(&*answer);
  if (wanted == nullptr) return refusal_of(answer);
  return std::move(*wanted);
}

int RemoteProfiles::modify_format(std::uint64_t id, const FormatChange& change) {
  return command(ModifyFormat{id, change}).error;
}

Outcome RemoteProfiles::modify_ev(std::uint64_t id, const EvChange& change) {
  return command(ModifyEv{id, change});
}

int RemoteProfiles::modify_cc(std::uint64_t id, const CcChange& change) {
  return command(ModifyCc{id, change}).error;
}

int RemoteProfiles::set_port(PortId port, bool enabled) { return command(SetPort{port, enabled}).error; }

Result<std::uint32_t> RemoteProfiles::ask_free_evs() const {
  const auto are = ask<ProfilesAre>(GetProfiles{});
  if (!are) return are.error();
  return are->free_evs;
}

Result<FormatProfile> RemoteProfiles::ask_format(std::uint64_t id) const {
  auto is = ask<FormatIs>(GetFormat{id});
  if (!is) return is.error();
  return std::move(is->profile);
}

Result<EvProfile> RemoteProfiles::ask_ev(std::uint64_t id) const {
  auto is = ask<EvIs>(GetEv{id});
  if (!is) return is.error();
  return std::move(is->profile);
}

Result<CcProfile> RemoteProfiles::ask_cc(std::uint64_t id) const {
  auto is = ask<CcIs>(GetCc{id});
  if (!is) return is.error();
  return std::move(is->profile);
}

/// While mrcd is away another QP may have what one of this process holds already.
template <class Held>
Held* RemoteProfiles::share(std::map<std::uint64_t, Held>& all, std::uint64_t id) const {
  const auto held = all.find(id);
  if (link_.connected() || held == all.end()) return nullptr;
  ++held->second.users;
  return &held->second;
}

Result<EvSet> RemoteProfiles::acquire_ev(std::uint64_t id) {
  // The first question may show that mrcd has gone; the second waits for its return. on_answer counts.
  for (const auto if_lost : {DaemonLink::IfLost::fail, DaemonLink::IfLost::ask_again}) {
    {
      const auto locked = link_.lock();
      if (const HeldEvs* held = share(evs_, id)) return held->set;
    }
    auto answer = link_.call(AcquireEv{id}, if_lost);
    if (auto* acquired = answer ? std::get_if<EvAcquired>(&*answer) : nullptr)
      return std::move(acquired->set);
    if (answer) return refusal_of(answer);
  }
  return away();
}

void RemoteProfiles::release_ev(std::uint64_t id) {
  const auto locked = link_.lock();
  const auto found = evs_.find(id);
  if (found == evs_.end()) return;
  if (--found->second.users == 0) evs_.erase(found);
  link_.post_locked(ReleaseEv{id});
}

Result<engine::CcProfile> RemoteProfiles::acquire_cc(std::uint64_t id) {
  for (const auto if_lost : {DaemonLink::IfLost::fail, DaemonLink::IfLost::ask_again}) {
    {
      const auto locked = link_.lock();
      if (const HeldCc* held = share(ccs_, id)) return held->profile;
    }
    auto answer = link_.call(AcquireCc{id}, if_lost);
    if (const auto* acquired = answer ? std::get_if<CcAcquired>(&*answer) : nullptr) return acquired->profile;
    if (answer) return refusal_of(answer);
  }
  return away();
}

void RemoteProfiles::release_cc(std::uint64_t id) {
  const auto locked = link_.lock();
  const auto found = ccs_.find(id);
  if (found == ccs_.end()) return;
  if (--found->second.users == 0) ccs_.erase(found);
  link_.post_locked(ReleaseCc{id});
}

void RemoteProfiles::report_ev(std::uint64_t id, std::uint32_t slot, bool bad) {
  const auto locked = link_.lock();
  const auto found = evs_.find(id);
  if (found == evs_.end()) return;
  std::uint32_t& reports = found->second.bad[slot];
  if (!bad && reports == 0) return;
  reports += bad ? 1 : -1;
  if (reports == 0) found->second.bad.erase(slot);
  link_.post_locked(ReportEv{id, slot, bad});
}

}  // namespace mrc::node
