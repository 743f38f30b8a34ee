// From spells to strokes: what each direction of a link does when several things are wrong with it at once.
#include <algorithm>
#include <unordered_map>

#include "sim/fault.h"

namespace mrc::sim {
namespace {

using What = Stroke::What;

/// All that is wrong with one direction now.
class Ailments {
 public:
  void begin(const Spell& s) { of(s.kind).push_back(s.amount); }
  void end(const Spell& s) {
    auto& amounts = of(s.kind);
    amounts.erase(std::find(amounts.begin(), amounts.end(), s.amount));
  }
  What state() const { return !downs_.empty() ? What::down : !holes_.empty() ? What::black_hole : What::up; }
  double loss() const {
    double arrives = 1;
    for (const double l : losses_) arrives *= 1 - l;
    return 1 - arrives;
  }
  double rate() const {
    double least = 1;
    for (const double r : rates_) least = std::min(least, r);
    return least;
  }

 private:
  std::vector<double>& of(FaultKind kind) {
    switch (kind) {
      case FaultKind::down: return downs_;
      case FaultKind::black_hole:
      case FaultKind::one_way: return holes_;
      case FaultKind::lossy: return losses_;
      case FaultKind::slow: break;
    }
    return rates_;
  }
  std::vector<double> downs_, holes_, losses_, rates_;
};

struct Edge {
  Ps when = 0;
  std::uint32_t spell = 0;
  bool begins = false;
};

std::vector<Edge> edges_of(const std::vector<Spell>& spells) {
  std::vector<Edge> edges;
  for (std::uint32_t i = 0; i < spells.size(); ++i) {
    edges.push_back({spells[i].at, i, true});
    if (spells[i].until != kNeverPs) edges.push_back({spells[i].until, i, false});
  }
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.when < b.when; });
  return edges;
}

}  // namespace

std::vector<Stroke> strokes_of(const std::vector<Spell>& spells) {
  std::vector<Stroke> out;
  std::unordered_map<std::uint32_t, Ailments> hops;
  for (const Edge& e : edges_of(spells)) {
    const Spell& s = spells[e.spell];
    Ailments& a = hops[s.hop.index()];
    const What state = a.state();
    const double loss = a.loss(), rate = a.rate();
    e.begins ? a.begin(s) : a.end(s);
    if (a.loss() != loss) out.push_back({e.when, s.hop, What::loss, a.loss()});
    if (a.rate() != rate) out.push_back({e.when, s.hop, What::rate, a.rate()});
    if (a.state() == state) continue;
    // Who sees a cable come back does not see that it swallows everything.
    if (state == What::down && a.state() == What::black_hole) out.push_back({e.when, s.hop, What::up, 0});
    out.push_back({e.when, s.hop, a.state(), 0});
  }
  return out;
}

}  // namespace mrc::sim
