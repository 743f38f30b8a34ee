// Programs that need no trace: the traffic of collectives and of simple tests, at any number of ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "sim/step.h"

namespace mrc::sim {

enum class PatternKind : std::uint8_t {
  permutation,     // each rank to one other, at random, one from each
  incast,          // all to rank 0
  pairwise,        // rank r with r + n/2, both ways
  ring_allreduce,  // 2 (n-1) rounds of bytes / n
  tree_allreduce,  // up and down a binary tree in `pieces`
  reduce_scatter,  // n-1 rounds of bytes / n
  all_gather,      // the same traffic as reduce_scatter
  all_to_all,      // bytes / n to each, `window` at a time
  moe,             // dispatch and combine among `ranks` experts: two skewed all-to-alls with compute between
  pipeline,        // `microbatches` through all ranks as stages and back
};

struct Pattern {
  PatternKind kind = PatternKind::permutation;
  std::uint32_t ranks = 2;
  std::uint64_t bytes = 1'000'000;  // per rank: what a collective works on, or one message
  std::uint32_t iterations = 1;
  Ps gap = 0;                      // compute before each iteration but the first
  std::uint32_t pieces = 8;        // tree_allreduce
  std::uint32_t window = 8;        // all_to_all, moe: sends under way per rank
  std::uint32_t skew = 0;          // moe, all_to_all: percent that a destination's popularity varies by
  std::uint32_t microbatches = 8;  // pipeline
  Ps compute = 0;                  // pipeline, moe: per microbatch and stage; backward takes twice as long
  std::uint64_t seed = 1;
};

/// The name as scenarios write it: "ring_allreduce".
Result<PatternKind> pattern_named(std::string_view name);
std::string_view name(PatternKind kind);

/// Refuses what makes no sense, with a sentence.
Result<std::unique_ptr<Program>> make_program(const Pattern& pattern);

/// A permutation of 0 .. n-1 without fixed points.
std::vector<std::uint32_t> derangement(std::uint32_t n, std::uint64_t seed);

}  // namespace mrc::sim
