#include "map/agent.h"

#include <algorithm>

namespace mrc::map {

const char* to_string(Count c) {
  constexpr const char* kNames[kCounts] = {"probes_sent", "probes_answered", "answers_late",
                                           "duplicates",  "refused",         "close_looks",
                                           "relayed",     "relays_refused"};
  return kNames[static_cast<int>(c)];
}

Agent::Agent(const topo::Topology& topo, HostId host, const Settings& settings)
    : topo_(topo), host_(host), settings_(settings) {
  for (const ProbeName& name : regular_probes(topo, host, settings)) targets_.try_emplace(name);
}

Duration Agent::timeout(const ProbeName& name) const {
  return name.shape >= Shape::relay_out ? settings_.relay_timeout : settings_.timeout;
}

Duration Agent::usual_period(const ProbeName& name) const {
  const bool seldom = name.shape == Shape::visit || (name.tier == topo::Tier::t0 && topo_.tiers() > 1);
  return seldom ? settings_.seldom_period : settings_.period;
}

void Agent::handle_reply(Time arrived, const ProbeName& name, std::uint32_t sequence) {
  const auto at = targets_.find(name);
  const Arrival what = at == targets_.end() ? Arrival::unknown : at->second.tally.on_reply(sequence, arrived);
  switch (what) {
    case Arrival::answer: counters_.add(Count::answered); break;
    case Arrival::late: counters_.add(Count::late); break;
    case Arrival::duplicate: counters_.add(Count::duplicate); break;
    case Arrival::unknown: counters_.add(Count::refused); break;
  }
}

void Agent::advance(Time now) {
  for (auto& [name, target] : targets_) target.tally.advance(now, timeout(name));
  for (auto& [name, target] : targets_) target.tally.judge(settings_, usual_loss(name, target));
  note_changes(now);
  ask_below(now);
  start_looks(now);
  std::erase_if(targets_, [&](const auto& t) { return !t.second.regular && t.second.wanted_until < now; });
  line_up(now);
  find_next();
}

void Agent::note_changes(Time now) {
  for (auto& [name, target] : targets_) {
    const bool first_word = !target.answered_once && target.tally.good_run() > 0;
    target.answered_once |= first_word;
    changed_ |= first_word || target.said != target.tally.condition();
    target.said = target.tally.condition();
    // Suspicion shortens the period until there is a judgement; from then on the usual one will do.
    if (target.regular && target.tally.run() > 0 && target.said < Condition::lossy)
      target.fast_until = now + settings_.look;
    // What was dead and answers is watched closely, until it may be trusted.
    if (target.said == Condition::dead)
      target.fast_until = target.tally.good_run() > 0 ? now + settings_.look : now;
  }
}

bool Agent::works(const ProbeName& name) const {
  const auto at = targets_.find(name);
  return at != targets_.end() && at->second.tally.condition() == Condition::good &&
         at->second.tally.run() == 0;
}

/// The probe that goes the same way, less the last link.
Agent::Targets::const_iterator Agent::lower(const ProbeName& name) const {
  const auto under = below(name);
  if (!under) return targets_.end();
  if (name.shape == Shape::visit) {
    ProbeName way = name;
    way.shape = Shape::round_trip;
    way.other = 0;
    if (const auto at = targets_.find(way); at != targets_.end()) return at;
  }
  return targets_.find(*under);
}

/// T0 probe fine and T1 probe lost: it is that T0-T1 link. As long as the T0 probe has not been fine since,
/// it may be something before it.
bool Agent::explained_below(const ProbeName& name, const Target& target) const {
  const auto at = lower(name);
  if (at == targets_.end()) return false;
  return suspicious(at->second) || at->second.tally.answered_at() < target.tally.lost_since() ||
         explained_below(at->first, at->second);
}

/// What the host's own link loses at most: whatever crosses it speaks for it, as the T0 itself is asked
/// seldom. Not the one in question, and nobody who is dead for reasons of its own.
double Agent::loss_to_t0(Plane plane, const Target& in_question) const {
  Fates all;
  for (const auto& [name, target] : targets_) {
    if (name.shape != Shape::round_trip || name.plane != plane || &target == &in_question) continue;
    if (target.tally.condition() != Condition::dead) all += target.tally.fates();
  }
  return all.cautious_loss();
}

/// Before it fell silent.
double Agent::loss_to_t0_before(Plane plane) const {
  Fates all;
  for (const auto& [name, target] : targets_) {
    if (name.shape == Shape::round_trip && name.plane == plane) all += target.tally.fates_before();
  }
  return all.cautious_loss();
}

/// What this probe may lose without being dead: as much as it did before, as what lies before it does, and,
/// of a close look, which is new, as the one that it looks at.
double Agent::usual_loss(const ProbeName& name, const Target& target) const {
  if (target.tally.run() < settings_.dead_after) return 0;  // nobody will ask
  if (name.shape == Shape::round_trip && name.tier == topo::Tier::t0) return loss_to_t0_before(name.plane);
  double loss = target.regular ? target.tally.fates_before().cautious_loss() : 0;
  for (auto at = lower(name); at != targets_.end(); at = lower(at->first)) {
    const Tally& tally = at->second.tally;
    if (tally.condition() == Condition::dead) continue;  // and so is all behind it
    const bool t0 = at->first.tier == topo::Tier::t0;
    loss = std::max(loss, t0 ? loss_to_t0(name.plane, target) : tally.fates().cautious_loss());
  }
  if (target.regular) return loss;
  const auto suspect = targets_.find(target.suspect);
  const bool alive = suspect != targets_.end() && suspect->second.tally.condition() != Condition::dead;
  return alive ? std::max(loss, suspect->second.tally.fates().cautious_loss()) : loss;
}

/// So many answers that "no loss here" means something.
bool Agent::clean(const Tally& t) const {
  return t.condition() == Condition::good && t.good_run() >= settings_.clean_after &&
         t.loss() < settings_.clean_at;
}

/// While all is well a T1's answers speak for the T0 as well, which is asked seldom; now at once, and where
/// something is lossy until its word counts.
void Agent::ask_below(Time now) {
  for (const auto& [name, target] : targets_) {
    const bool lossy = target.said == Condition::lossy;
    if (!target.regular || (target.tally.run() == 0 && !lossy)) continue;
    for (auto at = lower(name); at != targets_.end(); at = lower(at->first)) {
      Target& t = targets_.find(at->first)->second;
      const bool counts = !lossy || t.said == Condition::lossy || clean(t.tally);
      if (t.said == Condition::dead || (counts && t.tally.answered_at() >= target.tally.lost_since()))
        continue;
      t.fast_until = now + settings_.look;
      t.due = std::min(t.due, now);
    }
  }
}

std::uint32_t Agent::working_uplink(const ProbeName& suspect) const {
  if (suspect.tier == topo::Tier::t0) return 0;
  const bool low = suspect.tier == topo::Tier::t1;
  const std::uint32_t count = low ? topo_.spec().t1 : topo_.spec().t2;
  const std::uint32_t x = low ? suspect.uplink0 : suspect.uplink1;
  ProbeName y = suspect;
  for (std::uint32_t i = 1; i < count; ++i) {
    (low ? y.uplink0 : y.uplink1) = static_cast<std::uint16_t>((x + i) % count);
    if (works(y)) return (x + i) % count;
  }
  return (x + 1) % count;
}

Plane Agent::working_plane(Plane not_this) const {
  ProbeName n;
  for (std::uint32_t i = 1; i < topo_.planes(); ++i) {
    n.plane = static_cast<std::uint8_t>((not_this + i) % topo_.planes());
    if (works(n)) return n.plane;
  }
  return not_this;
}

void Agent::look_at(Time now, const ProbeName& suspect) {
  const auto looks =
      close_look(topo_, host_, suspect, working_uplink(suspect), working_plane(suspect.plane), settings_);
  for (const ProbeName& name : looks) {
    const auto [at, added] = targets_.try_emplace(name);
    if (added) {
      at->second.regular = false;
      at->second.suspect = suspect;
      at->second.due = now;
      at->second.fast_until = now + settings_.look;
      counters_.add(Count::looks);
    }
    at->second.wanted_until = now + settings_.look;
  }
}

void Agent::start_looks(Time now) {
  std::vector<ProbeName> suspects;
  std::size_t looks = 0;
  for (const auto& [name, target] : targets_) {
    looks += target.regular ? 0 : 1;
    if (target.regular && suspicious(target) && !explained_below(name, target)) suspects.push_back(name);
  }
  for (const ProbeName& name : suspects) {
    if (keep_looks(now, name) || looks >= settings_.max_looks) continue;
    const std::size_t before = targets_.size();
    look_at(now, name);
    looks += targets_.size() - before;
  }
}

/// Once begun a look keeps its way: another y would start the count anew. False: there is none yet.
bool Agent::keep_looks(Time now, const ProbeName& suspect) {
  bool begun = false;
  for (auto& [name, target] : targets_) {
    if (target.regular || target.suspect != suspect) continue;
    target.wanted_until = now + settings_.look;
    begun = true;
  }
  return begun;
}

void Agent::find_next() {
  next_ = kNever;
  for (const auto& [name, target] : targets_) next_ = std::min(next_, target.due);
}

/// Each time another one goes first: the first of a batch finds everything cold, and its time tells.
void Agent::line_up(Time now) {
  due_.clear();
  for (auto at = targets_.begin(); at != targets_.end(); ++at) {
    if (at->second.due <= now) due_.push_back(at);
  }
  if (!due_.empty()) std::rotate(due_.begin(), due_.begin() + turns_++ % due_.size(), due_.end());
  std::reverse(due_.begin(), due_.end());  // taken from the end
}

std::optional<Probe> Agent::poll_probe(Time now) {
  if (due_.empty()) return std::nullopt;
  auto& [name, target] = *due_.back();
  due_.pop_back();
  const Duration period = target.fast_until > now ? settings_.fast_period : usual_period(name);
  // Targets stay in step, so that one waking serves them all; after a long pause the beat starts anew.
  target.due = target.due + period > now ? target.due + period : now + period;
  if (due_.empty()) find_next();
  counters_.add(Count::sent);
  return Probe{name, target.tally.on_sent(now)};
}

std::vector<Observation> Agent::observations() const {
  std::vector<Observation> out;
  for (const auto& [name, target] : targets_) {
    const Tally& t = target.tally;
    Observation o;
    o.host = host_;
    o.name = name;
    o.condition = t.condition();
    o.answered_at = t.answered_at();
    o.lost_since = t.lost_since();
    o.clean = clean(t);
    o.window = t.window();
    o.lost = t.lost();
    o.rtt = t.rtt();
    o.rtt_min = t.rtt_min();
    out.push_back(o);
  }
  return out;
}

std::uint64_t Agent::lost() const {
  std::uint64_t sum = 0;
  for (const auto& [name, target] : targets_) sum += target.tally.lost_total();
  return sum;
}

}  // namespace mrc::map
