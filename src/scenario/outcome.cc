#include "scenario/outcome.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "base/counted.h"
#include "scenario/figures.h"

namespace mrc::scenario {
namespace {

using sim::Flow;
using sim::Ps;

constexpr std::size_t kBusiest = 8;

double gbps(double bytes, Ps time) { return time > 0 ? bytes * 8e-9 / sim::seconds(time) : 0; }

/// What the NICs of those who send, or of those who receive, carry at most.
class LineRate {
 public:
  explicit LineRate(const topo::Topology& t)
      : host_gbps_(static_cast<double>(t.planes() * t.spec().host_link.bits_per_second) / 1e9) {}
  void add(const Flow& f) {
    senders_.insert(f.source);
    receivers_.insert(f.destination);
  }
  double part(double goodput) const {
    const double rate = host_gbps_ * static_cast<double>(std::min(senders_.size(), receivers_.size()));
    return rate > 0 ? goodput / rate : 0;
  }

 private:
  double host_gbps_;
  std::set<sim::Host> senders_, receivers_;
};

/// How evenly pairs of hosts were served: each has the bytes of its messages over the time from the first to
/// the last.
class PairRates {
 public:
  void add(const Flow& f) {
    Pair& p = pairs_[{f.source, f.destination}];
    p.first = std::min(p.first, f.start);
    p.last = std::max(p.last, f.received);
    p.bytes += static_cast<double>(f.bytes);
  }
  double fairness() const {
    std::vector<double> rates;
    for (const auto& [hosts, p] : pairs_) rates.push_back(p.bytes / static_cast<double>(p.last - p.first));
    return sim::fairness(rates);
  }

 private:
  struct Pair {
    Ps first = sim::kNeverPs, last = 0;
    double bytes = 0;
  };
  std::map<std::pair<sim::Host, sim::Host>, Pair> pairs_;
};

JobFigures figures_of(const sim::Ensemble& load, std::uint32_t member, const std::vector<Flow>& flows,
                      const topo::Topology& topology) {
  JobFigures j;
  j.name = load.members()[member].name;
  LineRate line(topology);
  std::vector<double> times;
  PairRates rates;
  for (const Flow& f : flows) {
    if (sim::Ensemble::member_of(f.tag) != member) continue;
    ++j.flows;
    line.add(f);
    if (f.received == sim::kNeverPs) {
      ++j.unfinished;
      continue;
    }
    j.first = std::min(j.first, f.start);
    j.last = std::max(j.last, f.received);
    j.bytes += f.bytes;
    times.push_back(sim::microseconds(f.received - f.start));
    rates.add(f);
  }
  j.completion_us = sim::distribution(std::move(times));
  j.goodput_gbps = gbps(static_cast<double>(j.bytes), j.last - std::min(j.first, j.last));
  j.of_line_rate = line.part(j.goodput_gbps);
  j.fairness = rates.fairness();
  return j;
}

std::vector<LinkFigures> link_figures(sim::World& world, Ps end, bool all) {
  const topo::Topology& topo = world.topo();
  std::vector<std::pair<double, std::uint32_t>> by_use;
  for (std::uint32_t i = 0; i < 2 * topo.links(); ++i) {
    by_use.emplace_back(sim::use_of(world.link(topo::hop_at(i)), end), i);
  }
  if (!all) {
    const auto busier = [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    };
    const std::size_t n = std::min(kBusiest, by_use.size());
    std::partial_sort(by_use.begin(), by_use.begin() + static_cast<std::ptrdiff_t>(n), by_use.end(), busier);
    by_use.resize(n);
  }
  std::vector<LinkFigures> out;
  for (const auto& [use, i] : by_use) {
    const topo::Hop hop = topo::hop_at(i);
    out.push_back({topo.name(hop), use, world.link(hop).counters()});
  }
  return out;
}

/// Why a run ended before its work.
std::string cause(const sim::World& world, Stop stop, Ps limit) {
  char at[64];
  std::snprintf(at, sizeof at, " at %.6g us", sim::microseconds(std::min(world.now(), limit)));
  const std::int64_t failed = world.total().failed;
  const std::string given_up = failed == 0 ? ""
                                           : counted(static_cast<std::uint64_t>(failed), "message") +
                                                 " failed: QPs spent all their retries";
  if (!world.stopped_early()) return failed == 0 ? std::string("nothing moves any more") + at : given_up;
  const std::string also = failed == 0 ? "" : "; " + given_up;
  if (stop == Stop::wall_time) return std::string("stopped by limits.wall") + at + also;
  // The watch of another process may have stopped all of them.
  if (stop == Stop::interrupted || world.now() < limit) return std::string("interrupted") + at + also;
  return std::string("stopped by limits.time") + at + ": raise it or leave it out" + also;
}

}  // namespace

bool Outcome::passed() const {
  return unfinished.empty() &&
         std::all_of(checks.begin(), checks.end(), [](const Checked& c) { return c.met; });
}

Outcome run(const Scenario& scenario, Prepared& prepared, const Wanted& wanted,
            const OnProgress& on_progress) {
  sim::World world(prepared.topology, prepared.world, *prepared.load);
  Series series(prepared.topology, scenario.outputs.interval);
  PhaseMeter meter(scenario.phases);
  Outcome out;
  Stop stop = Stop::no;
  world.run([&](const sim::Progress& p) {
    meter.note(p);
    if (wanted.samples && series.due(p.now)) series.take(world, p);
    if (wanted.look) wanted.look(world, p);
    out.ended = p.now;
    if (on_progress) stop = on_progress(p);
    return stop == Stop::no;
  });
  // Nothing may have happened for long before the end: that time counts too.
  if (world.stopped_early() && stop == Stop::no && prepared.world.end > out.ended) {
    meter.note({out.ended, prepared.world.end, world.total()});
    out.ended = prepared.world.end;
  }
  if (wanted.samples) series.take(world, {out.ended, out.ended, world.total()});
  out.stopped_by_time = world.stopped_early();
  out.here = world.gather();
  if (!out.here) return out;
  out.flows = world.flows();
  out.summary = sim::summarise(world, out.flows, sim::cost_so_far());
  out.unfinished = prepared.load->unfinished();
  if (!out.unfinished.empty())
    out.unfinished = cause(world, stop, prepared.world.end) + "; " + out.unfinished;
  out.samples = series.samples();
  out.interval = series.interval();
  out.marks = prepared.marks;
  const Ps until = std::max(out.summary.end, world.stopped_at());
  out.busiest = link_figures(world, until, false);
  if (wanted.all_links) out.links = link_figures(world, until, true);
  for (std::uint32_t m = 0; m < prepared.load->members().size(); ++m)
    out.jobs.push_back(figures_of(*prepared.load, m, out.flows, prepared.topology));
  LineRate line(prepared.topology);
  for (const Flow& f : out.flows) line.add(f);
  out.of_line_rate = line.part(out.summary.goodput_gbps);
  out.silence = out.stopped_by_time ? meter.silence_until(out.ended) : meter.silence();
  for (std::size_t i = 0; i < scenario.phases.size(); ++i) {
    const double goodput = gbps(meter.bytes(i), meter.length(i));
    out.phases.push_back({scenario.phases[i].name, goodput, line.part(goodput)});
  }
  out.checks = check(scenario.expectations, Figures::from_json(to_json(scenario, out)));
  return out;
}

}  // namespace mrc::scenario
