#include "map/survey.h"

#include <algorithm>

namespace mrc::map {

const char* to_string(EventKind k) {
  constexpr const char* kNames[] = {"found", "changed", "cleared"};
  return kNames[static_cast<int>(k)];
}

void Survey::observe(Time now, HostId host, const std::vector<Observation>& observations) {
  reports_[host.value] = {now, observations};
}

Survey::Thing Survey::thing(const Culprit& c) const {
  const auto what = static_cast<std::uint32_t>(c.what);
  if (c.what == What::node) return {what, topo_.switch_number(c.node)};
  return {what, c.hop.index()};
}

std::vector<Culprit> Survey::judge(Time now) {
  std::erase_if(reports_, [&](const auto& r) { return now - r.second.at > settings_.stale; });
  std::vector<Observation> all;
  bool trouble = false;
  for (const auto& [host, report] : reports_) {
    for (const Observation& o : report.observations) {
      all.push_back(o);
      trouble |= o.condition >= Condition::lossy;
    }
  }
  if (!trouble) return {};
  return find_culprits(topo_, all, {settings_.lossy_at});
}

/// What could still turn out to be something else gets a little time.
bool Survey::ready(Time now, const Culprit& c) {
  if (c.settled) return true;
  const Time since = waiting_.try_emplace(thing(c), now).first->second;
  return now - since >= (c.fault == Fault::dead ? settings_.settle : settings_.settle_lossy);
}

bool Survey::take(Time now, const Culprit& c) {
  for (Finding& f : findings_) {
    if (!f.culprit.same_thing(c)) continue;
    const bool changed = f.culprit.fault != c.fault;
    f.culprit = c;
    f.last_sign = now;
    if (changed) record(now, EventKind::changed, c);
    return changed;
  }
  if (!ready(now, c)) return false;
  Past& past = past_[thing(c)];
  if (now - past.cleared > settings_.forget) past.times = 0;
  findings_.push_back({c, now, now, ++past.times});
  record(now, EventKind::found, c);
  return true;
}

// MRC-FAB-032: what comes back again and again has to stay away longer and longer before it is trusted.
Duration Survey::hold(const Finding& f) const {
  Duration hold = settings_.hold_min;
  for (std::uint32_t i = 1; i < f.times && hold < settings_.hold_max; ++i) hold *= 2;
  return std::min(hold, settings_.hold_max);
}

/// A better name for the same trouble: its switch instead of the link, one direction instead of both.
bool Survey::replaced(const Finding& f, const std::vector<Culprit>& named) const {
  return std::any_of(named.begin(), named.end(), [&](const Culprit& c) {
    if (c.same_thing(f.culprit)) return false;
    if (f.culprit.what == What::node) return false;
    const topo::Hop way[] = {f.culprit.hop};
    return c.what == What::node ? touches(topo_, c, way) : c.hop.link == f.culprit.hop.link;
  });
}

bool Survey::clear_old(Time now, const std::vector<Culprit>& named) {
  const auto gone = [&](const Finding& f) {
    if (f.last_sign == now) return false;
    if (!replaced(f, named) && now - f.last_sign < hold(f)) return false;
    past_[thing(f.culprit)].cleared = now;
    record(now, EventKind::cleared, f.culprit);
    return true;
  };
  return std::erase_if(findings_, gone) > 0;
}

bool Survey::advance(Time now) {
  named_ = judge(now);
  std::erase_if(waiting_, [&](const auto& w) {
    return std::none_of(named_.begin(), named_.end(), [&](const Culprit& c) { return thing(c) == w.first; });
  });
  bool changed = false;
  for (const Culprit& c : named_) changed |= take(now, c);
  return clear_old(now, named_) || changed;
}

void Survey::record(Time now, EventKind kind, const Culprit& c) {
  history_.push_back({now, kind, c});
  ++events_;
  if (history_.size() > settings_.history) history_.pop_front();
}

std::vector<LinkReport> Survey::links() const {
  return links_by([](HostId, const ProbeName&) { return true; });
}

/// Does the way of this probe cross any of them? Then its loss is theirs, as far as anybody can tell.
bool Survey::meets(HostId host, const ProbeName& name, const std::vector<Culprit>& known) const {
  const auto way = itinerary(topo_, host, name);
  if (!way) return false;
  const auto crossed = hops(topo_, *way);
  return std::any_of(known.begin(), known.end(),
                     [&](const Culprit& c) { return touches(topo_, c, crossed); });
}

std::vector<Culprit> Survey::suspects() const {
  std::vector<Culprit> known;
  for (const Finding& f : findings_) known.push_back(f.culprit);
  const auto found = static_cast<std::ptrdiff_t>(known.size());
  for (const Culprit& c : named_) {
    if (std::none_of(known.begin(), known.end(), [&](const Culprit& k) { return k.same_thing(c); }))
      known.push_back(c);
  }
  // From below: what is lost before a link is not the link's.
  for (const topo::Tier tier : {topo::Tier::t0, topo::Tier::t1, topo::Tier::t2}) {
    const auto links = links_by(
        [&](HostId host, const ProbeName& name) { return name.tier == tier && !meets(host, name, known); });
    for (const LinkReport& l : links) {
      if (l.loss < settings_.lossy_at) continue;
      Culprit& c = known.emplace_back();
      c.fault = Fault::lossy;
      c.hop = {l.link, topo::Direction::up};
      c.loss = l.loss;
    }
  }
  return {known.begin() + found, known.end()};
}

std::vector<LinkReport> Survey::links_by(const Chosen& chosen) const {
  std::map<topo::LinkId, LinkReport> all;
  for (const auto& [host, report] : reports_) {
    std::map<ProbeName, const Observation*> round_trips;
    for (const Observation& o : report.observations) {
      if (o.name.shape == Shape::round_trip) round_trips[o.name] = &o;
    }
    for (const auto& [name, o] : round_trips) {
      if (o->window == 0 || !chosen(HostId(host), name)) continue;
      const auto lower = below(name);
      const auto before = lower ? round_trips.find(*lower) : round_trips.end();
      const double base_loss = before == round_trips.end() ? 0 : before->second->loss();
      const Duration base_rtt = before == round_trips.end() ? Duration(0) : before->second->rtt_min;
      LinkReport& link = all[subject(topo_, HostId(host), name)];
      link.link = subject(topo_, HostId(host), name);
      const double loss = base_loss >= 1 ? 0 : std::max(0.0, 1 - (1 - o->loss()) / (1 - base_loss));
      link.loss = (link.loss * link.probes + loss * o->window) / (link.probes + o->window);
      link.probes += o->window;
      if (o->rtt_min == Duration(0)) continue;
      link.rtt =
          (link.rtt * link.witnesses + std::max(Duration(0), o->rtt_min - base_rtt)) / (link.witnesses + 1);
      ++link.witnesses;
    }
  }
  std::vector<LinkReport> out;
  for (const auto& [link, report] : all) out.push_back(report);
  return out;
}

}  // namespace mrc::map
