#include "scenario/prepare.h"

#include <algorithm>
#include <cerrno>

#include "scenario/figures.h"
#include "sim/feasible.h"

namespace mrc::scenario {
namespace {

std::string of_file(const Scenario& s) { return s.topology_file.empty() ? "" : " of " + s.topology_file; }

Status check_links(const Scenario& s) {
  const auto short_of = [&](const topo::LinkSpec& link, const char* name) {
    return Error{EINVAL, s.topology_place + ": " + name + " links need a " +
                             (link.bits_per_second == 0 ? "rate above 0, such as \"100G\""
                                                        : "delay above 0, such as \"500ns\"")};
  };
  const auto bad = [](const topo::LinkSpec& l) { return l.delay <= Duration(0) || l.bits_per_second == 0; };
  if (bad(s.topology.host_link)) return short_of(s.topology.host_link, "host");
  if (s.topology.tiers > 1 && bad(s.topology.t0_t1)) return short_of(s.topology.t0_t1, "t0_t1");
  if (s.topology.tiers > 2 && bad(s.topology.t1_t2)) return short_of(s.topology.t1_t2, "t1_t2");
  return Done{};
}

/// A result of this scenario with every name in it and no number, so that a misspelled figure is found before
/// the run. The busiest links are known only afterwards.
Status check_figures(const Scenario& s, const topo::Topology& topology) {
  constexpr std::uint32_t kTiers[] = {1, 2, 3, 3, 2, 1};  // that a fabric has where there are such links
  Outcome empty;
  for (std::size_t g = 0; g < empty.summary.by_group.size(); ++g)
    empty.summary.by_group[g].links = topology.tiers() >= kTiers[g] ? 1 : 0;
  empty.summary.by_plane.resize(topology.planes());
  for (const JobSpec& job : s.jobs) empty.jobs.push_back({.name = job.name});
  for (const Phase& phase : s.phases) empty.phases.push_back({.name = phase.name});
  const auto figures = Figures::from_json(to_json(s, empty));
  for (const Checked& c : check(s.expectations, figures)) {
    if (!c.known && !c.wanted.figure.starts_with("busiest_links.")) return Error{EINVAL, text(c, figures)};
  }
  return Done{};
}

}  // namespace

Result<Prepared> prepare(const Scenario& s) {
  if (auto done = check_links(s); !done) return done.error();
  auto topology = topo::Topology::make(s.topology);
  if (!topology)
    return Error{EINVAL, s.topology_place + ": topology" + of_file(s) + ": " + topology.error().what};
  if (s.jobs.size() > sim::Ensemble::kMost)
    return Error{EINVAL, s.jobs[sim::Ensemble::kMost].place + ": more than " +
                             std::to_string(sim::Ensemble::kMost) +
                             " jobs; put some of them into one traffic matrix (kind = \"cm\")"};
  if (auto ok = check_figures(s, *topology); !ok) return ok.error();
  Prepared out{*topology, nullptr, s.world, 0, {}};
  std::vector<sim::Ensemble::Member> members;
  std::vector<sim::Fault> faults;
  bool all_known = true;
  for (const JobSpec& job : s.jobs) {
    auto made = make_job(job, *topology, s.world.hosts.seed);
    if (!made) return made.error();
    out.bytes += made->bytes;
    faults.insert(faults.end(), made->faults.begin(), made->faults.end());
    all_known = all_known && made->bytes > 0;
    members.push_back({std::move(made->load), job.start, job.name});
    if (job.start > 0) out.marks.push_back({job.start, job.name + " starts"});
  }
  if (!all_known) out.bytes = 0;
  out.load = std::make_unique<sim::Ensemble>(std::move(members));
  if (auto ok = sim::feasible(*topology, s.world, *out.load); !ok)
    return Error{EINVAL, s.topology_place + ": topology" + of_file(s) + ": " + ok.error().what};
  auto strokes = make_strokes(s, *topology, faults, out.marks);
  if (!strokes) return strokes.error();
  out.world.strokes = std::move(*strokes);
  std::stable_sort(out.marks.begin(), out.marks.end(),
                   [](const Mark& a, const Mark& b) { return a.when < b.when; });
  return out;
}

}  // namespace mrc::scenario
