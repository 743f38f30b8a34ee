// A job of a scenario becomes a workload: its program, and its ranks on hosts.
#include <algorithm>
#include <cerrno>
#include <numeric>

#include "base/prng.h"
#include "scenario/prepare.h"
#include "sim/cm_workload.h"
#include "sim/goal_workload.h"
#include "sim/job.h"

namespace mrc::scenario {
namespace {

using sim::Host;

Error refuse(const JobSpec& job, const std::string& why) {
  return {EINVAL, job.place + ": job '" + job.name + "' " + why};
}

std::uint64_t children(const sim::Group& g, std::uint32_t i) {
  return (2ull * i + 1 < g.size) + (2ull * i + 2 < g.size);
}

std::uint64_t bytes_of(const sim::Step& s, sim::Rank rank) {
  switch (s.kind) {
    case sim::StepKind::send:
    case sim::StepKind::exchange: return s.peer == sim::kNobody ? 0 : s.bytes;
    case sim::StepKind::ring_rounds: return s.rounds * s.bytes;
    case sim::StepKind::all_to_all: return (s.group.size - 1) * s.bytes;
    case sim::StepKind::tree_allreduce: {
      const std::uint32_t i = s.group.index(rank);
      return (children(s.group, i) + (i > 0)) * s.rounds * s.bytes;
    }
    default: return 0;
  }
}

// An estimate for the ETA: skewed shares count with their mean, and ranks are alike enough to look at a few.
std::uint64_t bytes_of(const sim::Program& program) {
  constexpr std::uint32_t kLook = 64;
  const std::uint32_t looked = std::min(program.ranks(), kLook);
  constexpr std::uint64_t kMostSteps =
      1'000'000;  // who repeats for ever is stopped by the time, and needs no sum
  std::uint64_t sum = 0, steps = 0;
  for (std::uint32_t i = 0; i < looked; ++i) {
    const auto rank = static_cast<sim::Rank>(std::uint64_t{i} * program.ranks() / looked);
    sim::Step step;
    for (std::uint64_t n = 0; program.step(rank, n, step); ++n, step = {}) {
      if (++steps > kMostSteps) return 0;
      sum += bytes_of(step, rank);
    }
  }
  return sum / looked * program.ranks();
}

Result<std::unique_ptr<sim::Program>> make_program(const JobSpec& job, std::uint32_t hosts) {
  if (job.kind == JobKind::training) return sim::make_training(job.training);
  sim::Pattern pattern = job.pattern;
  pattern.ranks = !job.hosts.empty() ? static_cast<std::uint32_t>(job.hosts.size())
                  : job.ranks != 0   ? job.ranks
                                   : (hosts - std::min(job.first_host, hosts) + job.stride - 1) / job.stride;
  return sim::make_program(pattern);
}

Result<std::vector<Host>> place_ranks(const JobSpec& job, std::uint32_t ranks, std::uint32_t hosts,
                                      std::uint64_t seed) {
  std::vector<Host> out = job.hosts;
  if (!out.empty() && out.size() != ranks)
    return refuse(job,
                  "has " + std::to_string(ranks) + " ranks, but 'hosts' lists " + std::to_string(out.size()));
  if (out.empty()) {
    const std::uint64_t last = job.first_host + std::uint64_t{ranks - 1} * job.stride;
    if (last >= hosts)
      return refuse(job, "needs host " + std::to_string(last) + ", and the fabric has hosts 0 to " +
                             std::to_string(hosts - 1) + "; lower its ranks or enlarge the fabric");
    for (std::uint32_t r = 0; r < ranks; ++r) out.push_back(job.first_host + r * job.stride);
  }
  std::vector<Host> sorted = out;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return refuse(job, "lists a host twice; each rank needs its own");
  if (sorted.back() >= hosts)
    return refuse(job, "names host " + std::to_string(sorted.back()) + ", and the fabric has hosts 0 to " +
                           std::to_string(hosts - 1));
  if (job.order == Order::random) {
    Prng prng(seed ^ 0x706c616365ull);
    for (std::size_t i = out.size() - 1; i > 0; --i)
      std::swap(out[i], out[prng.below(static_cast<std::uint32_t>(i + 1))]);
  }
  return out;
}

/// Somewhere in its first steps time passes.
bool computes(const sim::Program& program) {
  constexpr std::uint64_t kLook = 10'000;
  sim::Step step;
  for (std::uint64_t n = 0; n < kLook && program.step(0, n, step); ++n, step = {}) {
    if (step.kind == sim::StepKind::compute && step.time > 0) return true;
  }
  return false;
}

Status slow_down(const JobSpec& job, const sim::Program& program, std::uint64_t seed,
                 std::vector<float>& slowdown) {
  const std::uint32_t ranks = program.ranks();
  std::vector<std::uint32_t> slow = job.stragglers.ranks;
  if (job.stragglers.count > ranks) return refuse(job, "has more stragglers than ranks");
  if (slow.empty() && job.stragglers.count == 0) return Done{};
  if (!computes(program))
    return refuse(job,
                  "has stragglers and nothing to compute that they could be slow at; give it 'compute' or "
                  "'forward', or 'gap' and several iterations");
  if (slow.empty()) {
    std::vector<std::uint32_t> all(ranks);
    std::iota(all.begin(), all.end(), 0u);
    Prng prng(seed ^ 0x736c6f77ull);
    for (std::uint32_t i = 0; i < job.stragglers.count; ++i)
      std::swap(all[i], all[i + prng.below(ranks - i)]);
    slow.assign(all.begin(), all.begin() + job.stragglers.count);
  }
  slowdown.assign(ranks, 1.0f);
  for (const std::uint32_t r : slow) {
    if (r >= ranks) return refuse(job, "has no rank " + std::to_string(r) + " to be slow");
    slowdown[r] = static_cast<float>(job.stragglers.slowdown);
  }
  return Done{};
}

Result<MadeJob> make_ranks(const JobSpec& job, std::uint32_t hosts, std::uint64_t seed) {
  auto program = make_program(job, hosts);
  if (!program) return refuse(job, "can not run: " + program.error().what);
  const std::uint32_t ranks = (*program)->ranks();
  auto placed = place_ranks(job, ranks, hosts, seed);
  if (!placed) return placed.error();
  sim::Placement placement{.host_of = std::move(*placed)};
  if (auto done = slow_down(job, **program, seed, placement.slowdown); !done) return done.error();
  const std::uint64_t bytes = bytes_of(**program);
  return MadeJob{std::make_unique<sim::Job>(0, std::move(*program), std::move(placement), hosts), bytes, {}};
}

Result<MadeJob> make_streams(const JobSpec& job, std::uint32_t hosts) {
  std::uint64_t bytes = 0;
  for (const sim::Stream& s : job.streams) {
    if (std::max(s.from, s.to) >= hosts)
      return refuse(job, "names host " + std::to_string(std::max(s.from, s.to)) +
                             ", and the fabric has hosts 0 to " + std::to_string(hosts - 1));
    bytes += s.bytes * s.messages;
  }
  return MadeJob{std::make_unique<sim::StreamWorkload>(job.streams, hosts), bytes, {}};
}

constexpr double kFailedSpeed = 0.25;  // of a link that a traffic matrix calls failed

/// A matrix knows one fabric: what it says of a switch holds in every plane.
Result<std::vector<sim::Fault>> failures_of(const JobSpec& job, const sim::CmFile& file,
                                            const topo::Topology& topo) {
  std::vector<sim::Fault> out;
  for (const sim::CmFailure& f : file.failures) {
    for (topo::Plane p = 0; p < topo.planes(); ++p) {
      const auto node = topo.find_node("p" + std::to_string(p) + ".t" + std::to_string(f.tier) + "." +
                                       std::to_string(f.switch_id));
      const std::uint32_t first = node && f.tier < 2 ? topo.downlinks(*node) : 0;
      const auto link = node && std::uint64_t{first} + f.link_id < topo.ports(*node)
                            ? topo.link_at({*node, first + f.link_id})
                            : std::nullopt;
      if (!link)
        return refuse(job, "can not run: " + job.file + ":" + std::to_string(f.line) +
                               ": a failure at a link that this fabric does not have; correct its "
                               "switch_id and link_id, both from 0");
      out.push_back({.kind = sim::FaultKind::slow, .target = topo.name(*link), .amount = kFailedSpeed});
    }
  }
  return out;
}

Result<MadeJob> make_cm(const JobSpec& job, const topo::Topology& topo) {
  const std::uint32_t hosts = topo.hosts();
  auto file = sim::read_cm(job.file);
  if (!file) return refuse(job, "can not run: " + file.error().what);
  if (file->nodes > hosts)
    return refuse(job, "can not run: " + job.file + " is a matrix of " + std::to_string(file->nodes) +
                           " nodes, and the fabric has " + std::to_string(hosts) +
                           " hosts; enlarge the fabric");
  std::uint64_t bytes = 0;
  for (const sim::CmConnection& c : file->connections) bytes += c.bytes;
  auto failures = failures_of(job, *file, topo);
  if (!failures) return failures.error();
  return MadeJob{std::make_unique<sim::CmWorkload>(std::move(*file)), bytes, std::move(*failures)};
}

Result<MadeJob> make_goal(const JobSpec& job, std::uint32_t hosts) {
  auto file = sim::read_goal(job.file);
  if (!file) return refuse(job, "can not run: " + file.error().what);
  if (file->ranks.size() > hosts)
    return refuse(job, "can not run: " + job.file + " is a graph of " + std::to_string(file->ranks.size()) +
                           " ranks, and the fabric has " + std::to_string(hosts) +
                           " hosts; enlarge the fabric");
  std::uint64_t bytes = 0;
  for (const sim::GoalRank& rank : file->ranks) {
    for (const sim::GoalOp& op : rank.ops) {
      if (op.kind == sim::GoalKind::send) bytes += op.amount;
      if (op.tag >> sim::Ensemble::kMemberShift != 0)
        return refuse(job, "can not run: " + job.file + ":" + std::to_string(op.line) + ": tag " +
                               std::to_string(op.tag) + "; tags go to " +
                               std::to_string((1u << sim::Ensemble::kMemberShift) - 1));
    }
  }
  return MadeJob{std::make_unique<sim::GoalWorkload>(std::move(*file)), bytes, {}};
}

}  // namespace

Result<MadeJob> make_job(const JobSpec& job, const topo::Topology& topology, std::uint64_t seed) {
  switch (job.kind) {
    case JobKind::streams: return make_streams(job, topology.hosts());
    case JobKind::cm: return make_cm(job, topology);
    case JobKind::goal: return make_goal(job, topology.hosts());
    default: return make_ranks(job, topology.hosts(), seed);
  }
}

}  // namespace mrc::scenario
