// [[job]]: who sends what to whom.
#include "scenario/sections.h"

namespace mrc::scenario {
namespace {

constexpr std::string_view kFileKinds[] = {"cm", "goal"};

void read_kind(TableReader& r, JobSpec& job) {
  std::string word = "permutation";
  r.text("kind", word);
  if (!r.has("kind")) return r.complain("has no 'kind'; say what runs, such as kind = \"permutation\"");
  if (word == "training") return void(job.kind = JobKind::training);
  if (word == "streams") return void(job.kind = JobKind::streams);
  if (word == kFileKinds[0]) return void(job.kind = JobKind::cm);
  if (word == kFileKinds[1]) return void(job.kind = JobKind::goal);
  const auto kind = sim::pattern_named(word);
  if (!kind) return r.complain("kind", "is an " + kind.error().what + ", training, streams, cm, goal");
  job.pattern.kind = *kind;
}

void read_pattern(TableReader& r, sim::Pattern& p) {
  r.bytes("bytes", p.bytes);
  r.number("iterations", p.iterations, 1);
  r.time("gap", p.gap);
  using Kind = sim::PatternKind;
  if (p.kind == Kind::tree_allreduce) r.number("pieces", p.pieces, 1);
  if (p.kind == Kind::all_to_all || p.kind == Kind::moe) {
    r.number("window", p.window, 1);
    r.number("skew", p.skew, 0, 100);
  }
  if (p.kind == Kind::pipeline) r.number("microbatches", p.microbatches, 1);
  if (p.kind == Kind::pipeline || p.kind == Kind::moe) r.time("compute", p.compute);
}

void read_training(TableReader& r, sim::Training& t) {
  r.number("tp", t.tp, 1);
  r.number("pp", t.pp, 1);
  r.number("dp", t.dp, 1);
  r.number("ep", t.ep, 1);
  r.number("microbatches", t.microbatches, 1);
  r.number("iterations", t.iterations, 1);
  r.bytes("activation_bytes", t.activation_bytes, 0);
  r.bytes("tensor_bytes", t.tensor_bytes, 0);
  r.bytes("expert_bytes", t.expert_bytes, 0);
  r.bytes("gradient_bytes", t.gradient_bytes, 0);
  r.number("expert_skew", t.expert_skew, 0, 100);
  r.number("expert_window", t.expert_window, 1);
  r.time("forward", t.forward);
  r.time("gap", t.gap);
}

/// Neither may be passed over in silence: other ranks than the groups have, and groups without any bytes.
void check_training(TableReader& r, const JobSpec& job) {
  const std::uint32_t ranks = job.training.ranks();
  if (r.has("ranks") && job.ranks != ranks)
    r.complain("ranks", "must be tp x pp x dp, which is " + std::to_string(ranks) + ", or left out");
  if (ranks > 1 && !job.training.moves())
    r.complain(
        "moves nothing: give a group of several ranks its bytes, tp its tensor_bytes, "
        "pp its activation_bytes, dp its gradient_bytes, ep its expert_bytes");
}

void read_streams(TableReader& r, JobSpec& job) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  sim::Stream each;
  r.pairs("pairs", pairs);
  r.bytes("bytes", each.bytes);
  r.number("messages", each.messages, 0, 1ull << 40);
  r.number("depth", each.depth, 1, 4096);
  if (pairs.empty()) r.complain("has no 'pairs'; say who sends to whom: pairs = [[0, 8], [1, 9]]");
  for (const auto& [from, to] : pairs) {
    if (from == to) r.complain("pairs", "has host " + std::to_string(from) + " sending to itself");
    each.from = from;
    each.to = to;
    job.streams.push_back(each);
  }
}

void read_stragglers(TableReader& r, Stragglers& s) {
  r.numbers("ranks", s.ranks);
  r.number("count", s.count);
  r.real("slowdown", s.slowdown, 1, 1e6);
  if (s.ranks.empty() == (s.count == 0)) r.complain("needs either 'ranks' or 'count'");
}

void read_placement(TableReader& r, JobSpec& job) {
  constexpr Choice<Order> kOrders[] = {{"linear", Order::linear}, {"random", Order::random}};
  r.numbers("hosts", job.hosts);
  r.number("ranks", job.ranks);
  r.number("first_host", job.first_host);
  r.number("stride", job.stride, 1);
  r.choice("order", job.order, kOrders);
  if (!job.hosts.empty() && (r.has("ranks") || r.has("first_host") || r.has("stride")))
    r.complain("hosts", "already says where all ranks are; leave out ranks, first_host and stride");
  r.table("stragglers", [&](TableReader& in) { read_stragglers(in, job.stragglers); });
}

void read_named_file(TableReader& r, const Scenario& s, JobSpec& job) {
  r.text("file", job.file);
  if (job.file.empty()) return r.complain("has no 'file'; name the one to run");
  job.file = beside(s, job.file);
}

}  // namespace

void read_job(TableReader& r, std::size_t number, Scenario& s) {
  JobSpec job;
  job.place = r.place();
  job.name = "job " + std::to_string(number);
  r.text("name", job.name);
  for (const JobSpec& other : s.jobs) {
    if (other.name == job.name)
      r.complain("name",
                 "is '" + job.name + "' like that of another; figures are named by it, so give it its own");
  }
  r.time("start", job.start);
  read_kind(r, job);
  job.pattern.seed = job.training.seed = s.world.hosts.seed;
  switch (job.kind) {
    case JobKind::pattern: read_pattern(r, job.pattern); break;
    case JobKind::training: read_training(r, job.training); break;
    case JobKind::streams: read_streams(r, job); break;
    case JobKind::cm:
    case JobKind::goal: read_named_file(r, s, job); break;
  }
  if (job.kind == JobKind::pattern || job.kind == JobKind::training) {
    r.number("seed", job.pattern.seed);
    job.training.seed = job.pattern.seed;
    read_placement(r, job);
  }
  if (job.kind == JobKind::training) check_training(r, job);
  s.jobs.push_back(std::move(job));
}

}  // namespace mrc::scenario
