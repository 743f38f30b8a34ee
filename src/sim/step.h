// The vocabulary of programs: groups of ranks, and the steps that ranks take in them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/ps.h"

namespace mrc::sim {

using Rank = std::uint32_t;

/// Ranks first, first + stride, ...: every group of a tensor, pipeline, data and expert parallel layout is
/// one.
struct Group {
  Rank first = 0;
  std::uint32_t stride = 1;
  std::uint32_t size = 1;

  constexpr Rank member(std::uint32_t i) const { return first + i * stride; }
  constexpr std::uint32_t index(Rank r) const { return (r - first) / stride; }
  constexpr bool operator==(const Group&) const = default;
};

enum class StepKind : std::uint8_t {
  compute,         // `time` passes
  send,            // `bytes` to `peer`; the next step does not wait for it
  receive,         // `rounds` messages, from whomever
  exchange,        // `bytes` to `peer` and one message from `other`, both awaited; kNobody: one way
  ring_rounds,     // `rounds` times `bytes` to the next in the group, each after the previous one's arrival
  tree_allreduce,  // `rounds` pieces of `bytes` up a binary tree and down again
  all_to_all,      // `bytes` to each other member (or skewed: see `skew`), `rounds` sends at a time
};

inline constexpr Rank kNobody = UINT32_MAX;

struct Step {
  StepKind kind = StepKind::compute;
  std::uint32_t match =
      0;  // the same number at both ends of a message, different for steps that might overlap
  Ps time = 0;
  std::uint64_t bytes = 0;
  Group group;
  std::uint32_t rounds = 0;
  Rank peer = kNobody;
  Rank other = kNobody;
  /// all_to_all: percent by which a destination's share varies, chosen by `skew_seed` and the pair. 0: all
  /// alike.
  std::uint32_t skew = 0;
  std::uint64_t skew_seed = 0;
};

/// A program is a function: what does this rank do next? Steps are made when they are needed and forgotten
/// when they are done, so 131,072 ranks cost a few bytes each.
class Program {
 public:
  virtual ~Program() = default;
  virtual std::uint32_t ranks() const = 0;
  /// With how many others a rank exchanges messages, at most.
  virtual std::uint32_t peers(Rank rank) const = 0;
  /// False: rank has ended. Ranks take their steps one after the other.
  virtual bool step(Rank rank, std::uint64_t number, Step& out) const = 0;
};

}  // namespace mrc::sim
