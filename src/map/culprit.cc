#include "map/culprit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace mrc::map {
namespace {

using topo::Hop;
using topo::LinkId;
using topo::Node;
using topo::Topology;

struct Seen {
  const Observation* o = nullptr;
  std::vector<Hop> hops;
  std::vector<Node> switches;
  double expected = 0;     // loss that culprits found so far account for,
  double variance = 0;     // and how well that is known: it is measured itself
  bool explained = false;  // nothing left to find on it
};

/// One search, for dead probes or for lossy ones.
class Search {
 public:
  Search(const Topology& topo, std::vector<Seen>& seen, Fault fault, double lossy_at)
      : topo_(topo), seen_(seen), fault_(fault), lossy_at_(lossy_at) {
    for (const Seen& s : seen_) {
      if (!exonerates(s)) continue;
      for (const Hop h : s.hops) latest(good_hops_[h.index()], s.o->answered_at);
      for (const Node n : s.switches) latest(good_switches_[n], s.o->answered_at);
    }
  }

  void run(std::vector<Culprit>& out) {
    while (const auto best = find_best()) {
      out.push_back(finish(*best));
      explain(out.back(), best->window);
    }
  }

 private:
  struct Candidate {
    Culprit culprit;
    std::uint32_t explains = 0;
    std::size_t hops = 0;         // of the shortest probes that it explains,
    double lost = 0, window = 0;  // and what became of these: they say best how much it loses
    Time since{};                 // when the last of the probes that it explains began to fail
  };

  static void latest(Time& at, Time t) { at = std::max(at, t); }
  bool exonerates(const Seen& s) const {
    return fault_ == Fault::dead ? s.o->condition != Condition::dead : s.o->clean;
  }
  double rest(const Seen& s) const { return s.expected >= 1 ? 0 : 1 - (1 - s.o->loss()) / (1 - s.expected); }
  bool suffers(const Seen& s) const {
    if (s.explained) return false;
    if (fault_ == Fault::dead) return s.o->condition == Condition::dead;
    return s.o->condition == Condition::lossy && unexplained(s);
  }
  /// More lost than what is found already accounts for, and not by chance.
  bool unexplained(const Seen& s) const {
    constexpr double kDeviations = 4;
    const double n = s.o->window, p = s.expected;
    const double deviation = std::sqrt(n * p * (1 - p) + n * n * s.variance);
    return rest(s) >= lossy_at_ && s.o->lost >= n * p + kDeviations * deviation;
  }
  /// An answer proves innocence from the time on when its probe left.
  template <class Good, class Key>
  static bool guilty(const Good& good, const Key& key, Time since) {
    const auto at = good.find(key);
    return at == good.end() || at->second < since;
  }
  bool guilty(Hop h, Time since) const { return guilty(good_hops_, h.index(), since); }
  bool guilty(Node n, Time since) const { return guilty(good_switches_, n, since); }

  /// Links by number first, then switches: on a tie the smaller thing is named.
  using Candidates = std::map<std::pair<int, std::uint32_t>, Candidate>;
  void add_candidates(const Seen& s, Candidates& all) const {
    std::set<LinkId> links;
    for (const Hop h : s.hops) {
      if (!guilty(h, s.o->lost_since) || !links.insert(h.link).second) continue;
      note(all[{0, h.link.value}], s).hop = {h.link, topo::Direction::up};
    }
    for (const Node n : s.switches) {
      if (!guilty(n, s.o->lost_since)) continue;
      Culprit& c = note(all[{1, topo_.switch_number(n)}], s);
      c.what = What::node;
      c.node = n;
    }
  }
  Culprit& note(Candidate& c, const Seen& s) const {
    ++c.explains;
    if (c.hops == 0 || s.hops.size() < c.hops) {
      c.hops = s.hops.size();
      c.lost = c.window = 0;
    }
    if (s.hops.size() == c.hops) {
      c.lost += rest(s) * s.o->window;
      c.window += s.o->window;
    }
    latest(c.since, s.o->lost_since);
    return c.culprit;
  }

  std::optional<Candidate> find_best() const {
    Candidates all;
    for (const Seen& s : seen_) {
      if (suffers(s)) add_candidates(s, all);
    }
    std::optional<Candidate> best;
    for (const auto& [key, c] : all) {
      if (!best || c.explains > best->explains) best = c;
    }
    return best;
  }

  /// Which direction, how much, and whether a probe that has said nothing since could say otherwise.
  Culprit finish(const Candidate& best) const {
    Culprit c = best.culprit;
    c.fault = fault_;
    c.loss = fault_ == Fault::dead || best.window == 0 ? 1 : best.lost / best.window;
    if (c.what == What::node) return c.settled = fault_ == Fault::dead || !could_change(c, best.since), c;
    const Hop up = c.hop, down{c.hop.link, topo::Direction::down};
    c.settled = !could_change(c, best.since);
    if (guilty(up, best.since) != guilty(down, best.since)) {
      c.what = What::one_way;
      c.hop = guilty(up, best.since) ? up : down;
    }
    return c;
  }
  bool has_no_word(const Seen& s, Time since) const {
    if (s.o->condition == Condition::dead) return false;
    // Witnesses speak seldom: they correct a name, nobody waits for them.
    if (s.o->name.shape == Shape::visit && s.o->condition == Condition::good) return false;
    if (fault_ == Fault::dead) return s.o->answered_at < since;
    return s.o->condition != Condition::lossy && !s.o->clean;
  }
  bool could_change(const Culprit& c, Time since) const {
    const Node upper = topo_.ends(c.hop.link).upper.node;
    const bool doubt_switch = c.what != What::node && guilty(upper, since);
    return std::any_of(seen_.begin(), seen_.end(), [&](const Seen& s) {
      if (!has_no_word(s, since)) return false;
      const bool crosses = touches(topo_, c, s.hops);
      return crosses ||
             (doubt_switch && std::find(s.switches.begin(), s.switches.end(), upper) != s.switches.end());
    });
  }

  void explain(const Culprit& c, double window) {
    for (Seen& s : seen_) {
      if (!touches(topo_, c, s.hops)) continue;
      s.expected = 1 - (1 - s.expected) * (1 - c.loss);
      if (window > 0) s.variance += c.loss * (1 - c.loss) / window;
      s.explained |= s.o->condition >= Condition::lossy && (fault_ == Fault::dead || !unexplained(s));
    }
    // Found once is found: it is no candidate again, and the search ends.
    if (c.what == What::node) {
      good_switches_[c.node] = Time::max();
      return;
    }
    good_hops_[Hop{c.hop.link, topo::Direction::up}.index()] = Time::max();
    good_hops_[Hop{c.hop.link, topo::Direction::down}.index()] = Time::max();
  }

  const Topology& topo_;
  std::vector<Seen>& seen_;
  Fault fault_;
  double lossy_at_;
  std::map<std::uint32_t, Time> good_hops_;
  std::map<Node, Time> good_switches_;
};

bool is_relay(const ProbeName& n) { return n.shape >= Shape::relay_out; }

/// A host that does not answer at all has no word in the matter.
bool mate_answers(const Observation& relay, std::span<const Observation> all) {
  ProbeName check = relay.name;
  check.shape = Shape::relay_check;
  return std::any_of(all.begin(), all.end(), [&](const Observation& o) {
    return o.host == relay.host && o.name == check && o.condition == Condition::good;
  });
}

}  // namespace

std::string name(const Topology& topo, const Culprit& c) {
  if (c.what == What::node) return topo.name(c.node);
  return c.what == What::one_way ? topo.name(c.hop) : topo.name(c.hop.link);
}

bool touches(const Topology& topo, const Culprit& c, std::span<const Hop> hops) {
  return std::any_of(hops.begin(), hops.end(), [&](Hop h) {
    if (c.what == What::one_way) return h == c.hop;
    if (c.what == What::link) return h.link == c.hop.link;
    const topo::Ends ends = topo.ends(h.link);
    return ends.lower.node == c.node || ends.upper.node == c.node;
  });
}

// MRC-FAB-031: the broken thing is what all lost probes share and no answered one crossed.
std::vector<Culprit> find_culprits(const Topology& topo, std::span<const Observation> observations,
                                   const CulpritSettings& settings) {
  std::vector<Seen> seen;
  for (const Observation& o : observations) {
    if (is_relay(o.name) && o.condition != Condition::good && !mate_answers(o, observations)) continue;
    const auto way = itinerary(topo, o.host, o.name);
    if (way) seen.push_back({&o, hops(topo, *way), switches(*way)});
  }
  std::vector<Culprit> out;
  Search(topo, seen, Fault::dead, settings.lossy_at).run(out);
  Search(topo, seen, Fault::lossy, settings.lossy_at).run(out);
  return out;
}

}  // namespace mrc::map
