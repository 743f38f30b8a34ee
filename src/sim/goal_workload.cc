#include "sim/goal_workload.h"

#include <unordered_set>

namespace mrc::sim {

GoalWorkload::GoalWorkload(GoalFile file) : file_(std::move(file)), progress_(file_.ranks.size()) {
  for (std::size_t r = 0; r < file_.ranks.size(); ++r) {
    for (const GoalOp& op : file_.ranks[r].ops) progress_[r].waits.push_back(op.waits_for);
    progress_[r].left = static_cast<std::uint32_t>(file_.ranks[r].ops.size());
  }
}

std::uint32_t GoalWorkload::peers(Host host) const {
  if (!takes_part(host)) return 0;
  std::unordered_set<std::uint32_t> others;
  for (const GoalOp& op : file_.ranks[host].ops) {
    if (op.kind != GoalKind::calc) others.insert(op.peer);
  }
  return static_cast<std::uint32_t>(others.size());
}

void GoalWorkload::start(Host host, Actions& actions) {
  // Which ones are roots is settled before the first begins, because a beginning may free others.
  const auto& ops = file_.ranks[host].ops;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (ops[i].waits_for == 0) begin(host, i, actions);
  }
}

void GoalWorkload::begin(Host host, std::uint32_t index, Actions& actions) {
  const GoalOp& op = file_.ranks[host].ops[index];
  switch (op.kind) {
    case GoalKind::send: actions.send({op.peer, op.amount, op.tag, index}); break;
    case GoalKind::calc: actions.wait(static_cast<Ps>(op.amount) * kPsPerNs, index); break;
    case GoalKind::receive: {
      Match& match = progress_[host].matches[{op.peer, op.tag}];
      if (match.messages == 0) {
        match.receives.push_back(index);
      } else {
        --match.messages;
        actions.wait(0, index);  // ends now, but not inside its own beginning
      }
    }
  }
  follow(host, index, true, actions);
}

void GoalWorkload::end(Host host, std::uint32_t op, Actions& actions) {
  --progress_[host].left;
  follow(host, op, false, actions);
}

void GoalWorkload::follow(Host host, std::uint32_t index, bool on_start, Actions& actions) {
  const GoalRank& rank = file_.ranks[host];
  const GoalOp& op = rank.ops[index];
  for (std::uint32_t e = op.first_edge; e < op.first_edge + op.edges; ++e) {
    const GoalEdge& edge = rank.edges[e];
    if (edge.on_start == on_start && --progress_[host].waits[edge.to] == 0) begin(host, edge.to, actions);
  }
}

void GoalWorkload::on_received(Host host, Host peer, std::uint32_t tag, Actions& actions) {
  Match& match = progress_[host].matches[{peer, tag}];
  if (match.receives.empty()) {
    ++match.messages;
    return;
  }
  const std::uint32_t op = match.receives.front();
  match.receives.erase(match.receives.begin());
  end(host, op, actions);
}

// A GOAL send ends when the buffer may be used again, and that is when the peer has it.
void GoalWorkload::on_sent(Host host, const Message& message, Actions& actions) {
  end(host, message.flow, actions);
}

void GoalWorkload::on_timer(Host host, std::uint64_t token, Actions& actions) {
  end(host, static_cast<std::uint32_t>(token), actions);
}

std::string GoalWorkload::unfinished() const {
  for (std::size_t r = 0; r < progress_.size(); ++r) {
    if (progress_[r].left == 0) continue;
    return "rank " + std::to_string(r) + " has " + std::to_string(progress_[r].left) +
           " operations that never ended";
  }
  return "";
}

std::vector<std::uint64_t> GoalWorkload::standing(Host host) const { return {progress_[host].left}; }

void GoalWorkload::adopt(Host host, std::span<const std::uint64_t> standing) {
  progress_[host].left = static_cast<std::uint32_t>(standing[0]);
}

}  // namespace mrc::sim
