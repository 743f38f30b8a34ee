// GOAL: an application as one graph of sends, receives and calculations per rank, in its text form.
//
//   num_ranks N
//   rank R {
//   [L:] send BYTESb to R [tag T] [cpu C] [nic I]
//   [L:] recv BYTESb from R [tag T] ...
//   [L:] calc NANOSECONDS [cpu C]
//   L requires L        (starts after the other has ended)
//   L irequires L       (starts after the other has started)
//   }
// Comments as in C++, of both kinds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mrc::sim {

enum class GoalKind : std::uint8_t { send, receive, calc };

struct GoalOp {
  GoalKind kind = GoalKind::calc;
  std::uint32_t peer = 0;
  std::uint32_t tag = 0;
  std::uint64_t amount = 0;      // bytes, or ns of calculation
  std::uint32_t waits_for = 0;   // how many edges lead here
  std::uint32_t first_edge = 0;  // of those that leave from here, in GoalRank::edges
  std::uint32_t edges = 0;
  int line = 0;
};

/// `to` may start when the op whose edge this is has ended, or has started.
struct GoalEdge {
  std::uint32_t to = 0;
  bool on_start = false;
};

struct GoalRank {
  std::vector<GoalOp> ops;
  std::vector<GoalEdge> edges;
};

struct GoalFile {
  std::vector<GoalRank> ranks;
};

/// Refuses what can not run: unknown ranks and labels, cycles, sends without a receive and the other way
/// round.
Result<GoalFile> parse_goal(std::string_view text, std::string_view file);
Result<GoalFile> read_goal(const std::string& path);

}  // namespace mrc::sim
