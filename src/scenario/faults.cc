// The faults of a scenario become strokes at links: named targets, and links drawn at random.
#include <algorithm>
#include <cerrno>
#include <cmath>

#include "base/prng.h"
#include "scenario/prepare.h"

namespace mrc::scenario {
namespace {

constexpr std::size_t kMostMarks = 60;  // more would only blacken a plot

constexpr const char* kKindNames[] = {"down", "black hole", "one way", "lossy", "slow"};

struct LinkRange {
  std::uint32_t first = 0, count = 0;  // within a plane
};

LinkRange range_of(AnyLink any, const topo::Topology& t) {
  const std::uint32_t hosts = t.hosts();
  const std::uint32_t middle = t.tiers() > 1 ? t.switches(topo::Tier::t0) * t.spec().t1 : 0;
  if (any == AnyLink::host) return {0, hosts};
  if (any == AnyLink::t0_t1) return {hosts, middle};
  return {hosts + middle, t.links_per_plane() - hosts - middle};
}

/// Groups of `width` neighbours, so many of them; without repetition.
std::vector<topo::LinkId> draw(const FaultSpec& f, const topo::Topology& t, Prng& prng) {
  const LinkRange range = range_of(f.any, t);
  std::vector<topo::LinkId> groups;
  for (topo::Plane p = 0; p < t.planes(); ++p) {
    for (std::uint32_t l = 0; l + f.width <= range.count; l += f.width)
      groups.emplace_back(p * t.links_per_plane() + range.first + l);
  }
  const double part = std::llround(f.part * static_cast<double>(groups.size()));
  const auto wanted =
      f.count != 0 ? f.count : static_cast<std::uint32_t>(std::max(part, f.part > 0 ? 1.0 : 0.0));
  if (wanted > groups.size()) return {};
  for (std::uint32_t i = 0; i < wanted; ++i)
    std::swap(groups[i], groups[i + prng.below(static_cast<std::uint32_t>(groups.size()) - i)]);
  groups.resize(wanted);
  return groups;
}

/// The targets by name, a list for each moment.
Result<std::vector<std::vector<std::string>>> targets_of(const FaultSpec& f, const topo::Topology& t,
                                                         Prng& prng) {
  std::vector<std::vector<std::string>> out;
  for (const std::string& name : f.targets) out.push_back({name});
  if (f.any == AnyLink::none) return out;
  const auto groups = draw(f, t, prng);
  if (groups.empty() && (f.count != 0 || f.part > 0))
    return Error{EINVAL,
                 f.place + ": this fabric has fewer such links than the fault wants; lower its count"};
  for (const topo::LinkId first : groups) {
    auto& names = out.emplace_back();
    for (std::uint32_t i = 0; i < f.width; ++i) names.push_back(t.name(topo::LinkId(first.value + i)));
  }
  return out;
}

void note(const sim::Fault& f, std::vector<Mark>& marks) {
  const std::string what = f.target + " " + kKindNames[static_cast<int>(f.kind)];
  for (std::uint32_t n = 0; n < f.times && marks.size() < kMostMarks; ++n) {
    marks.push_back({f.at + n * f.every, what});
    if (f.until != sim::kNeverPs) marks.push_back({f.until + n * f.every, f.target + " healed"});
  }
}

Result<std::vector<sim::Fault>> faults_of(const FaultSpec& f, const topo::Topology& t, Prng& prng,
                                          std::vector<Mark>& marks) {
  auto targets = targets_of(f, t, prng);
  if (!targets) return targets.error();
  std::vector<sim::Fault> out;
  sim::Ps delay = 0;
  for (const auto& names : *targets) {
    for (const std::string& name : names) {
      sim::Fault one = f.fault;
      one.target = name;
      one.at += delay;
      if (one.until != sim::kNeverPs) one.until += delay;
      note(one, marks);
      out.push_back(std::move(one));
    }
    delay += f.spacing;
  }
  return out;
}

}  // namespace

Result<std::vector<sim::Stroke>> make_strokes(const Scenario& s, const topo::Topology& topology,
                                              const std::vector<sim::Fault>& of_jobs,
                                              std::vector<Mark>& marks) {
  auto planned = sim::plan_spells(topology, of_jobs);
  if (!planned) return Error{EINVAL, s.file + ": " + planned.error().what};
  std::vector<sim::Spell> all = std::move(*planned);
  Prng prng(s.world.hosts.seed ^ 0x6661756c74ull);
  for (const FaultSpec& f : s.faults) {
    auto faults = faults_of(f, topology, prng, marks);
    if (!faults) return faults.error();
    auto spells = sim::plan_spells(topology, *faults);
    if (!spells) return Error{EINVAL, f.place + ": " + spells.error().what};
    all.insert(all.end(), spells->begin(), spells->end());
  }
  const auto random = sim::random_spells(topology, s.fault_rates);
  if (!random) return Error{EINVAL, s.rates_place + ": " + random.error().what};
  all.insert(all.end(), random->begin(), random->end());
  for (const sim::Spell& spell : *random) {
    if (marks.size() >= kMostMarks) break;
    if (spell.hop.direction == topo::Direction::down) continue;
    marks.push_back({spell.at, topology.name(spell.hop.link) + " down"});
    if (spell.until != sim::kNeverPs)
      marks.push_back({spell.until, topology.name(spell.hop.link) + " healed"});
  }
  return sim::strokes_of(all);
}

}  // namespace mrc::scenario
