#include "sim/pattern.h"

#include <array>
#include <cerrno>
#include <numeric>
#include <string>
#include <utility>

#include "base/prng.h"
#include "sim/training.h"

namespace mrc::sim {
namespace {

constexpr std::array<std::string_view, 10> kNames = {
    "permutation", "incast",     "pairwise", "ring_allreduce", "tree_allreduce", "reduce_scatter",
    "all_gather",  "all_to_all", "moe",      "pipeline"};

/// Steps that are the same for every iteration; between iterations lies the gap.
class Loop : public Program {
 public:
  explicit Loop(const Pattern& p) : pattern_(p) {}
  std::uint32_t ranks() const override { return pattern_.ranks; }
  std::uint32_t peers(Rank rank) const override {
    switch (pattern_.kind) {
      case PatternKind::pairwise: return 1;
      case PatternKind::tree_allreduce: return 3;
      case PatternKind::all_to_all:
      case PatternKind::moe: return pattern_.ranks - 1;
      case PatternKind::incast: return rank == 0 ? pattern_.ranks - 1 : 1;
      default: return 2;
    }
  }

  bool step(Rank rank, std::uint64_t number, Step& out) const override {
    const std::uint64_t length = steps() + 1;
    const std::uint64_t iteration = number / length;
    if (iteration >= pattern_.iterations) return false;
    if (number % length == 0) {
      out.kind = iteration > 0 && pattern_.gap > 0 ? StepKind::compute
                                                   : StepKind::ring_rounds;  // no rounds: nothing
      out.time = pattern_.gap;
      return true;
    }
    const std::uint64_t k = number % length - 1;
    out.match = static_cast<std::uint32_t>(iteration * 4 + 1);
    out.bytes = pattern_.bytes;
    out.group = {0, 1, pattern_.ranks};
    fill(rank, iteration, k, out);
    return true;
  }

 protected:
  virtual std::uint64_t steps() const { return 1; }
  virtual void fill(Rank rank, std::uint64_t iteration, std::uint64_t k, Step& out) const = 0;

  Pattern pattern_;
};

class Permutation final : public Loop {
 public:
  explicit Permutation(const Pattern& p) : Loop(p), to_(derangement(p.ranks, p.seed)), from_(p.ranks) {
    for (Rank r = 0; r < p.ranks; ++r) from_[to_[r]] = r;
  }

 private:
  void fill(Rank rank, std::uint64_t, std::uint64_t, Step& out) const override {
    out.kind = StepKind::exchange;
    out.peer = to_[rank];
    out.other = from_[rank];
  }
  std::vector<Rank> to_, from_;
};

class Pairwise final : public Loop {
 public:
  using Loop::Loop;

 private:
  void fill(Rank rank, std::uint64_t, std::uint64_t, Step& out) const override {
    out.kind = StepKind::exchange;
    out.peer = out.other = (rank + pattern_.ranks / 2) % pattern_.ranks;
  }
};

class Incast final : public Loop {
 public:
  using Loop::Loop;

 private:
  void fill(Rank rank, std::uint64_t, std::uint64_t, Step& out) const override {
    out.kind = rank == 0 ? StepKind::receive : StepKind::exchange;
    out.rounds = pattern_.ranks - 1;
    out.peer = 0;
  }
};

class Rings final : public Loop {
 public:
  using Loop::Loop;

 private:
  void fill(Rank, std::uint64_t, std::uint64_t, Step& out) const override {
    out.kind = StepKind::ring_rounds;
    out.rounds = (pattern_.kind == PatternKind::ring_allreduce ? 2 : 1) * (pattern_.ranks - 1);
    out.bytes = pattern_.bytes / pattern_.ranks;
  }
};

class Tree final : public Loop {
 public:
  using Loop::Loop;

 private:
  void fill(Rank, std::uint64_t, std::uint64_t, Step& out) const override {
    out.kind = StepKind::tree_allreduce;
    out.rounds = pattern_.pieces;
    out.bytes = pattern_.bytes / pattern_.pieces;
  }
};

class AllToAll final : public Loop {
 public:
  using Loop::Loop;

 private:
  std::uint64_t steps() const override { return pattern_.kind == PatternKind::moe ? 3 : 1; }
  void fill(Rank, std::uint64_t iteration, std::uint64_t k, Step& out) const override {
    if (k == 1) {  // between dispatch and combine the experts work
      out.kind = StepKind::compute;
      out.time = pattern_.compute;
      return;
    }
    out.kind = StepKind::all_to_all;
    out.match += static_cast<std::uint32_t>(k);
    out.rounds = pattern_.window;
    out.bytes = pattern_.bytes / pattern_.ranks;
    // Experts are popular to those who dispatch; what comes back goes to each alike.
    out.skew = k == 0 ? pattern_.skew : 0;
    out.skew_seed = pattern_.seed + iteration;
  }
};

template <class P>
Result<std::unique_ptr<Program>> made(const Pattern& p) {
  return std::unique_ptr<Program>(std::make_unique<P>(p));
}

Error refuse(const Pattern& p, const std::string& what) {
  return {EINVAL, std::string(name(p.kind)) + ": " + what};
}

}  // namespace

std::string_view name(PatternKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

Result<PatternKind> pattern_named(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<PatternKind>(i);
    known += (i == 0 ? "" : ", ") + std::string(kNames[i]);
  }
  return Error{EINVAL, "unknown pattern '" + std::string(name) + "'; known are " + known};
}

std::vector<std::uint32_t> derangement(std::uint32_t n, std::uint64_t seed) {
  // Sattolo's shuffle yields one cycle through all: nobody keeps their own place.
  std::vector<std::uint32_t> out(n);
  std::iota(out.begin(), out.end(), 0u);
  Prng prng(seed);
  for (std::uint32_t i = n - 1; i > 0; --i) std::swap(out[i], out[prng.below(i)]);
  return out;
}

Result<std::unique_ptr<Program>> make_program(const Pattern& p) {
  if (p.ranks < 2) return refuse(p, "needs at least 2 ranks");
  if (p.bytes == 0) return refuse(p, "bytes must be at least 1");
  if (p.iterations == 0) return refuse(p, "iterations must be at least 1");
  if (p.skew > 100) return refuse(p, "skew is a percentage, 0 to 100");
  switch (p.kind) {
    case PatternKind::permutation: return made<Permutation>(p);
    case PatternKind::incast: return made<Incast>(p);
    case PatternKind::pairwise:
      if (p.ranks % 2 != 0) return refuse(p, "needs an even number of ranks");
      return made<Pairwise>(p);
    case PatternKind::ring_allreduce:
    case PatternKind::reduce_scatter:
    case PatternKind::all_gather: return made<Rings>(p);
    case PatternKind::tree_allreduce:
      if (p.pieces == 0) return refuse(p, "pieces must be at least 1");
      return made<Tree>(p);
    case PatternKind::all_to_all:
    case PatternKind::moe:
      if (p.window == 0) return refuse(p, "window must be at least 1");
      return made<AllToAll>(p);
    case PatternKind::pipeline: {
      Training t{.tp = 1,
                 .pp = p.ranks,
                 .dp = 1,
                 .ep = 1,
                 .microbatches = p.microbatches,
                 .iterations = p.iterations};
      t.activation_bytes = p.bytes;
      t.forward = p.compute;
      t.gap = p.gap;
      return make_training(t);
    }
  }
  return refuse(p, "is not known");
}

}  // namespace mrc::sim
